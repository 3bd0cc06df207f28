// Makes an anonymous memory file, gives out parts of it, and maps each part as often as asked.
#include "memory/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace heddle::memory {

namespace {

/// `purpose`: which part of the memory it was for, or nothing.
[[noreturn]] void refused_file(const char* what, const std::string& purpose = {}) {
    const int why = errno;
    throw Error(
        fmt::format("the system refuses to {}{}: {}", what, purpose, std::generic_category().message(why)),
        why == EFBIG ? "raise the limit of file sizes (ulimit -f unlimited)" : "share less memory");
}

std::string purpose_of(std::size_t bytes) {
    return fmt::format(" for shared memory of {} bytes", bytes);
}

/// Of the file of memory: the most that the system's own limit of file sizes permits. Without a limit a
/// process does not live to use it up.
std::uint64_t file_bytes() {
    static const std::uint64_t bytes = [] {
        constexpr std::uint64_t most = std::uint64_t{1} << 55;
        rlimit limit{};
        return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? std::min<std::uint64_t>(most, limit.rlim_cur) : most;
    }();
    return bytes;
}

int open_file() {
    static const int file = [] {
        const int made = ::memfd_create("heddle", MFD_CLOEXEC);
        if (made < 0) refused_file("make a file of shared memory");
        if (::ftruncate(made, static_cast<off_t>(file_bytes())) != 0)
            refused_file("enlarge a file of shared memory");
        return made;
    }();
    return file;
}

/// Gives out parts of the file, one after the other, and begins again when none is in use. One number says
/// how many are, and above which page the file is free: a process may map some thirty thousand parts.
class Parts {
public:
    std::uint64_t take(std::size_t bytes) {
        open_file();  // if that fails, no part must be in use
        const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        do {
            if (bytes > file_bytes() || (state & end_mask) * page > file_bytes() - bytes) {
                errno = EFBIG;
                refused_file("find room", purpose_of(bytes));
            }
        } while (!state_.compare_exchange_weak(state, state + one_used + bytes / page));
        return (state & end_mask) * page;
    }
    /// The part must be empty again.
    void give_back() {
        std::uint64_t state = state_.load(std::memory_order_relaxed);
        const auto next = [&] { return state >> end_bits == 1 ? 0 : state - one_used; };
        while (!state_.compare_exchange_weak(state, next())) {
        }
    }

private:
    static constexpr int end_bits = 44;
    static constexpr std::uint64_t one_used = std::uint64_t{1} << end_bits, end_mask = one_used - 1;

    std::atomic<std::uint64_t> state_{0};
};

Parts& parts() {
    static Parts all;
    return all;
}

std::byte* map(std::size_t bytes, std::uint64_t begin) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                                open_file(), static_cast<off_t>(begin));
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

MappedTwice::MappedTwice(std::size_t bytes) : bytes_(bytes), begin_(parts().take(bytes)) {
    program_ = map(bytes, begin_);
    contents_ = map(bytes, begin_);
    if (program_ && contents_) return;
    const int why = errno;
    unmap();
    parts().give_back();
    errno = why;
    refused_file("map memory", purpose_of(bytes));
}

// A part that cannot be emptied stays in use.
MappedTwice::~MappedTwice() {
    const bool emptied = ::fallocate(open_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                     static_cast<off_t>(begin_), static_cast<off_t>(bytes_)) == 0;
    unmap();
    if (emptied) parts().give_back();
}

void MappedTwice::unmap() {
    if (program_) ::munmap(program_, bytes_);
    if (contents_) ::munmap(contents_, bytes_);
}

void MappedTwice::free(std::size_t offset, std::size_t bytes) {
    if (::fallocate(open_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(begin_ + offset), static_cast<off_t>(bytes)) != 0)
        refused_file("give memory back", purpose_of(bytes));
}

}  // namespace heddle::memory
