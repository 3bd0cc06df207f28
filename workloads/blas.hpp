// Loads OpenBLAS when a program first needs it. If it were linked, its threads would start with each process
// and spin beside our workers. When it is loaded, it reads how many threads it may have: this code sets that
// to one first.
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
