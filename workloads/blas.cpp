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

}  // namespace heddle::workloads
