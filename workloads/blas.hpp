// OpenBLAS, loaded when a program first needs it. Its threads would start with the process, whether it calls
// them or not, and spin beside our workers for a while; so it is told to have none, and it reads that when it
// is loaded.
#pragma once

#include <cblas.h>
#include <f77blas.h>

#include <string>

namespace heddle::workloads {

/// The functions that are used of it, under their own names.
struct Blas {
    decltype(&::cblas_dtrsm) dtrsm;
    decltype(&::cblas_dgemm) dgemm;
    decltype(&::cblas_dsyrk) dsyrk;
    decltype(&::cblas_dnrm2) dnrm2;
    decltype(&::BLASFUNC(dpotrf)) dpotrf;
    decltype(&::BLASFUNC(dgetrf)) dgetrf;
};

/// Loads it at the first call, which must come before there are several threads. Throws Error where it is not
/// there, or is the build without locks, whose functions only one thread may call.
const Blas& blas();

/// The version of the library that this process has loaded, such as `0.3.21`; empty if it has loaded none.
std::string blas_version();

}  // namespace heddle::workloads
