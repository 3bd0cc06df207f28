// Sets the bounds of the C library's heap, where it has them, and its request for huge pages.
#include "host/heap.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace heddle::host {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool own_heap = false;  // the sanitizer's
#else
constexpr bool own_heap = true;
#endif

bool system_gives_on_request() {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string modes;
    return std::getline(file, modes) && modes.find("[madvise]") != std::string::npos;
}

/// It follows a program that begins once more only if it is told to.
bool valgrind_runs_this() {
    const char* const preloaded = std::getenv("LD_PRELOAD");
    return preloaded && std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
}

}  // namespace

void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
    constexpr int mib = 1 << 20;
    ::mallopt(M_MMAP_THRESHOLD, 32 * mib);  // the largest that glibc takes
    ::mallopt(M_TRIM_THRESHOLD, 512 * mib);
    // As much as a thread's heap has. In a smaller piece the next one would begin amid a huge page.
    ::mallopt(M_TOP_PAD, 64 * mib);
#endif
}

void use_huge_pages(char** argv) {
    constexpr const char* tunables = "GLIBC_TUNABLES";
    constexpr std::string_view tunable = "glibc.malloc.hugetlb=";
    const char* const set = std::getenv(tunables);
    const std::string given = set ? set : "";
    const bool stated = given.find(tunable) != std::string::npos;  // by the user, or by this function
    if (!own_heap || stated || valgrind_runs_this() || !system_gives_on_request()) return;
    const std::string with = (given.empty() ? "" : given + ":") + std::string(tunable) + "1";
    if (::setenv(tunables, with.c_str(), 1) != 0 || !argv) return;
    std::error_code failed;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
    if (!failed) ::execv(program.c_str(), argv);
}

}  // namespace heddle::host
