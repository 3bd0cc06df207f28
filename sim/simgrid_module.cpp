// Holds the bytes of the library that calls SimGrid, and has the loader read them from a file in memory.
#include "sim/simgrid_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
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

[[noreturn]] void refuse(const std::string& problem) {
    throw Error("SimGrid cannot be loaded: " + problem,
                "a simulation needs SimGrid (Debian: libsimgrid-dev); native runs do without it");
}

const SimgridModule* load() {
    const auto size = static_cast<std::size_t>(&heddle_simgrid_module_end - &heddle_simgrid_module_begin);
    const int memory = ::memfd_create("heddle_simgrid", MFD_CLOEXEC);
    if (memory < 0) refuse(std::system_category().message(errno));
    const auto written = ::write(memory, &heddle_simgrid_module_begin, size);
    void* library = nullptr;
    if (written == static_cast<ssize_t>(size))
        library = ::dlopen(fmt::format("/proc/self/fd/{}", memory).c_str(), RTLD_LAZY | RTLD_LOCAL);
    ::close(memory);
    if (written != static_cast<ssize_t>(size)) refuse("no memory for its library");
    if (library == nullptr) refuse(::dlerror());
    return static_cast<const SimgridModule*>(::dlsym(library, "heddle_simgrid_module"));
}

}  // namespace

const SimgridModule& simgrid_module() {
    static const SimgridModule* const module = load();
    return *module;
}

}  // namespace heddle::sim
