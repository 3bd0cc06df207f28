// Measures page faults that a signal handler resolves with bare system calls (mprotect or userfaultfd),
// without Heddle. heddle_faults.cpp measures the same accesses through Heddle.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "bench/native/outcome.hpp"

namespace {

using namespace heddle::bench;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t pages = 256;
constexpr std::uint64_t continue_protected = 2;  // UFFDIO_CONTINUE_MODE_WP

int file = -1;  // of userfaultfd; -1: mprotect
char* memory = nullptr;
bool writes = false;  // what the program does to its pages

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

uffdio_range range_of(const char* page) {
    return {reinterpret_cast<std::uintptr_t>(page), page_bytes};
}

void protect(char* page, bool write) {
    uffdio_writeprotect change{};
    change.range = range_of(page);
    change.mode = write ? 0 : UFFDIO_WRITEPROTECT_MODE_WP;
    if (ioctl(file, UFFDIO_WRITEPROTECT, &change) != 0) fail("UFFDIO_WRITEPROTECT");
}

void permit(char* page, bool write) {
    if (file < 0) {
        if (mprotect(page, page_bytes, write ? PROT_READ | PROT_WRITE : PROT_READ) != 0) fail("mprotect");
    } else if (write) {
        protect(page, true);
    } else {
        uffdio_continue change{};
        change.range = range_of(page);
        change.mode = continue_protected;
        if (ioctl(file, UFFDIO_CONTINUE, &change) != 0) fail("UFFDIO_CONTINUE");
    }
}

void on_fault(int /*signal*/, siginfo_t* info, [[maybe_unused]] void* context) {
    const auto offset = static_cast<std::size_t>(static_cast<char*>(info->si_addr) - memory);
#if defined(__x86_64__)
    const bool write = (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    const bool write = writes;
#endif
    permit(memory + offset / page_bytes * page_bytes, write);
}

void open_userfaultfd() {
    file = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (file < 0) fail("userfaultfd");
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_MINOR_SHMEM |
                   UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    if (ioctl(file, UFFDIO_API, &api) != 0) fail("UFFDIO_API");
    uffdio_register mapping{};
    mapping.range = {reinterpret_cast<std::uintptr_t>(memory), pages * page_bytes};
    mapping.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP | UFFDIO_REGISTER_MODE_MINOR;
    if (ioctl(file, UFFDIO_REGISTER, &mapping) != 0) fail("UFFDIO_REGISTER");
}

void map_memory() {
    const int shared = memfd_create("faults", MFD_CLOEXEC);
    if (shared < 0 || ftruncate(shared, pages * page_bytes) != 0) fail("memfd_create");
    void* const at = mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    if (at == MAP_FAILED) fail("mmap");
    memory = static_cast<char*>(at);
    // Pages are in the file from now on.
    for (std::size_t page = 0; page < pages; ++page) memory[page * page_bytes] = 0;
    madvise(memory, pages * page_bytes, MADV_DONTNEED);
}

void take_back(char* page, bool to_read) {
    if (file < 0) {
        if (mprotect(page, page_bytes, to_read ? PROT_READ : PROT_NONE) != 0) fail("mprotect");
    } else if (to_read) {
        protect(page, false);
    } else if (madvise(page, page_bytes, MADV_DONTNEED) != 0) {
        fail("madvise");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: peer_bare_faults userfaultfd|mprotect read|write COUNT\n");
        return 2;
    }
    writes = std::string(words[2]) == "write";
    const std::uint64_t rounds = std::stoull(words[3]) / pages + 1;
    map_memory();
    if (std::string(words[1]) == "userfaultfd") open_userfaultfd();
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(file < 0 ? SIGSEGV : SIGBUS, &action, nullptr);
    for (std::size_t page = 0; writes && page < pages; ++page) {
        if (file >= 0) permit(memory + page * page_bytes, false);
    }
    double faults = 0, revocations = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const double begin = seconds_now();
        for (std::size_t page = 0; page < pages; ++page) take_back(memory + page * page_bytes, writes);
        const double middle = seconds_now();
        for (std::size_t page = 0; page < pages; ++page) {
            auto* const at = static_cast<volatile char*>(memory + page * page_bytes);
            if (writes) {
                *at = 1;
            } else {
                (void)*at;
            }
        }
        faults += seconds_now() - middle;
        revocations += middle - begin;
    }
    const auto each = static_cast<double>(rounds * pages);
    Outcome().add("ns", faults / each * 1e9).add("revoke_ns", revocations / each * 1e9).print();
}
