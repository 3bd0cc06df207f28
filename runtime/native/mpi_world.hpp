// MPI in this process: started once, and called by one thread at a time. Only mpi_world.cpp and mpi_mesh.cpp
// may include this file, because it includes MPI's header.
#pragma once

// MPI's old C++ interface, which some headers bring along, is not used.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <mutex>
#include <vector>

#include "runtime/native/membership.hpp"

namespace heddle::native {

/// A caller of MPI holds the mutex.
struct MpiWorld {
    std::timed_mutex mutex;
    bool started = false;
    bool ended = false;
    Membership self;
    MPI_Comm all = MPI_COMM_NULL;    ///< for runs; apart from whatever else the program might do
    std::vector<MPI_Comm> together;  ///< one for the receives of each node, where all live here
};

MpiWorld& mpi_world();

}  // namespace heddle::native
