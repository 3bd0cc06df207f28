// The system calls of userfaultfd, and the trial that shows whether this system has all of them.
#include "memory/userfaultfd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "memory/memory_file.hpp"

namespace heddle::memory {

using runtime::Access;

namespace {

#if defined(UFFD_USER_MODE_ONLY) && defined(UFFD_FEATURE_WP_HUGETLBFS_SHMEM) && \
    defined(UFFD_FEATURE_MINOR_SHMEM)
constexpr bool known_when_compiled = true;
constexpr std::uint64_t features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                                   UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
constexpr int user_mode_only = UFFD_USER_MODE_ONLY;
/// Since Linux 6.3; older headers do not name it.
constexpr std::uint64_t continue_protected = 2;

struct Request {
    const std::byte* begin;
    std::size_t bytes;

    uffdio_range range() const { return {reinterpret_cast<std::uintptr_t>(begin), bytes}; }
};

/// Makes pages that are in the file visible. Returns the bytes from the beginning for which it did so; errno
/// says why it ended there.
std::size_t map_pages(int file, Request request, bool read_only) {
    uffdio_continue pages{};
    pages.range = request.range();
    pages.mode = read_only ? continue_protected : 0;
    if (::ioctl(file, UFFDIO_CONTINUE, &pages) == 0) return request.bytes;
    return pages.mapped > 0 ? static_cast<std::size_t>(pages.mapped) : 0;
}

bool protect_pages(int file, Request request, bool read_only) {
    uffdio_writeprotect pages{};
    pages.range = request.range();
    pages.mode = read_only ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
    int result = 0;
    do {
        result = ::ioctl(file, UFFDIO_WRITEPROTECT, &pages);
    } while (result != 0 && errno == EAGAIN);
    return result == 0;
}

bool register_mapping(int file, Request request) {
    uffdio_register mapping{};
    mapping.range = request.range();
    mapping.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP | UFFDIO_REGISTER_MODE_MINOR;
    return ::ioctl(file, UFFDIO_REGISTER, &mapping) == 0;
}
#else
constexpr bool known_when_compiled = false;
constexpr std::uint64_t features = 0;
constexpr int user_mode_only = 0;
struct Request {
    const std::byte* begin;
    std::size_t bytes;
};
std::size_t map_pages(int, Request, bool) {
    return 0;
}
bool protect_pages(int, Request, bool) {
    return false;
}
bool register_mapping(int, Request) {
    return false;
}
#endif

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

/// Pages are in the file once they have been touched.
void touch(const std::byte* contents, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += page_bytes())
        (void)*static_cast<const volatile std::byte*>(contents + at);
}

/// All of `bytes` permit the same now. False if the system refuses.
bool change(int file, std::byte* begin, const std::byte* contents, std::size_t bytes, Access access,
            std::optional<Access> before = std::nullopt) {
    if (access == Access::none) return ::madvise(begin, bytes, MADV_DONTNEED) == 0;
    const bool read_only = access == Access::read;
    if (before && *before != Access::none) return protect_pages(file, {begin, bytes}, read_only);
    touch(contents, bytes);
    for (std::size_t done = 0; done < bytes;) {
        done += map_pages(file, {begin + done, bytes - done}, read_only);
        if (done == bytes || errno == EAGAIN) continue;
        if (errno != EEXIST) return false;
        // This page is mapped already. Those after it may not be: a system unmaps one at a time.
        if (!protect_pages(file, {begin + done, page_bytes()}, read_only)) return false;
        done += page_bytes();
    }
    return true;
}

/// Whether every step works on a page of its own. Changes that no access is made to are enough: a system that
/// lacks one refuses it.
bool works(int file) {
    MappedTwice page(page_bytes());
    if (!register_mapping(file, {page.program(), page_bytes()})) return false;
    for (const Access access :
         {Access::read, Access::write, Access::read, Access::none, Access::read, Access::none, Access::write})
        if (!change(file, page.program(), page.contents(), page_bytes(), access)) return false;
    return true;
}

std::optional<int> open_userfaultfd() {
    if (!known_when_compiled) return std::nullopt;
    const auto made = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only));
    if (made < 0) return std::nullopt;
#if defined(UFFDIO_API)
    uffdio_api wanted{};
    wanted.api = UFFD_API;
    wanted.features = features;
    if (::ioctl(made, UFFDIO_API, &wanted) == 0 && works(made)) return made;
#endif
    ::close(made);
    return std::nullopt;
}

/// The process's own, or nothing if the system does not have all that is needed. A process that was forked
/// has none: the file that it has inherited is about its parent's memory.
std::optional<int> file_of_process() {
    static const pid_t owner = ::getpid();
    static const std::optional<int> file = open_userfaultfd();
    return ::getpid() == owner ? file : std::nullopt;
}

[[noreturn]] void refused(const char* what) {
    throw Error(fmt::format("the system refuses to {} by userfaultfd: {}", what,
                            std::generic_category().message(errno)),
                "take the trigger mprotect or checked");
}

}  // namespace

bool has_userfaultfd() {
    return file_of_process().has_value();
}

void watch_mapping(std::byte* begin, std::size_t bytes) {
    const auto file = file_of_process();
    if (!file)
        throw Error("this system permits no userfaultfd", "take the trigger mprotect, checked or automatic");
    if (!register_mapping(*file, {begin, bytes})) refused("watch memory");
}

void set_access(std::byte* begin, const std::byte* contents, std::size_t bytes, Access access,
                std::optional<Access> before) {
    if (!change(*file_of_process(), begin, contents, bytes, access, before)) refused("protect pages");
}

}  // namespace heddle::memory
