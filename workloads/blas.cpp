// Loads OpenBLAS with dlopen and finds the functions that the kernels call.
#include "workloads/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/error.hpp"

namespace heddle::workloads {

namespace {

constexpr auto library = "libopenblas.so.0";

template <class Function>
Function function(void* loaded, const char* name) {
    void* const found = ::dlsym(loaded, name);
    if (!found) throw Error(fmt::format("{} has no {}", library, name), "install Debian's libopenblas0");
    return reinterpret_cast<Function>(found);
}

std::string& version_loaded() {
    static std::string version;
    return version;
}

/// `0.3.21` of `OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...`: the rest depends on the machine.
std::string version_in(std::string configuration) {
    const std::size_t first = configuration.find(' ');
    if (first == std::string::npos) return configuration;
    configuration.erase(0, first + 1);
    return configuration.substr(0, configuration.find(' '));
}

Blas load() {
    ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void* const loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        throw Error(fmt::format("cannot load OpenBLAS: {}", ::dlerror()), "install Debian's libopenblas0");
    }
    if (function<int (*)()>(loaded, "openblas_get_parallel")() == 0) {
        throw Error(
            fmt::format("{} is OpenBLAS's serial build, which several threads must not call", library),
            "choose another one: update-alternatives --config "
            "libopenblas.so.0-x86_64-linux-gnu");
    }
    version_loaded() = version_in(function<const char* (*)()>(loaded, "openblas_get_config")());
    return {function<decltype(Blas::dtrsm)>(loaded, "cblas_dtrsm"),
            function<decltype(Blas::dgemm)>(loaded, "cblas_dgemm"),
            function<decltype(Blas::dsyrk)>(loaded, "cblas_dsyrk"),
            function<decltype(Blas::dnrm2)>(loaded, "cblas_dnrm2"),
            function<decltype(Blas::dpotrf)>(loaded, "dpotrf_"),
            function<decltype(Blas::dgetrf)>(loaded, "dgetrf_")};
}

}  // namespace

const Blas& blas() {
    static const Blas loaded = load();
    return loaded;
}

std::string blas_version() {
    return version_loaded();
}

}  // namespace heddle::workloads
