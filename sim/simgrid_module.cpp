// Holds the bytes of the library that calls SimGrid, and has the loader read them from a file in memory.
#include "sim/simgrid_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "base/error.hpp"

asm(R"(
    .pushsection .rodata
    .balign 16
heddle_simgrid_module_begin:
    .incbin ")" HEDDLE_SIMGRID_MODULE R"("
heddle_simgrid_module_end:
    .popsection
)");

extern "C" {
extern const char heddle_simgrid_module_begin __attribute__((visibility("hidden")));
extern const char heddle_simgrid_module_end __attribute__((visibility("hidden")));
}

namespace heddle::sim {

namespace {

[[noreturn]] void refuse(const std::string& problem, const char* advice) {
    throw Error("SimGrid cannot be loaded: " + problem, advice);
}

constexpr const char* needs_simgrid =
    "a simulation needs SimGrid (Debian: libsimgrid-dev); native runs do without it";

/// Looks before it writes: to write beyond the limit is a signal, which ends a process that does not ignore
/// it.
void check_file_limit(std::size_t bytes) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        refuse(fmt::format("the limit of file sizes leaves {} of the {} bytes of the library that calls it",
                           limit.rlim_cur, bytes),
               "raise the limit of file sizes (ulimit -f unlimited)");
}

/// 0, or what went wrong.
int write_all(int file, const char* from, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t written = ::write(file, from, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : ENOSPC;
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
    return 0;
}

const SimgridModule* load() {
    const auto size = static_cast<std::size_t>(&heddle_simgrid_module_end - &heddle_simgrid_module_begin);
    check_file_limit(size);
    const int memory = ::memfd_create("heddle_simgrid", MFD_CLOEXEC);
    if (memory < 0) refuse(std::system_category().message(errno), needs_simgrid);
    const int problem = write_all(memory, &heddle_simgrid_module_begin, size);
    void* library = nullptr;
    if (problem == 0)
        library = ::dlopen(fmt::format("/proc/self/fd/{}", memory).c_str(), RTLD_LAZY | RTLD_LOCAL);
    ::close(memory);
    if (problem != 0)
        refuse("the system does not take its library: " + std::system_category().message(problem),
               "end other programs that use memory");
    if (library == nullptr) refuse(::dlerror(), needs_simgrid);
    return static_cast<const SimgridModule*>(::dlsym(library, "heddle_simgrid_module"));
}

}  // namespace

const SimgridModule& simgrid_module() {
    static const SimgridModule* const module = load();
    return *module;
}

}  // namespace heddle::sim
