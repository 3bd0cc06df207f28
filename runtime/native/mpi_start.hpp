// Starts the processes of a run over MPI. It reads what MPI's launchers leave in the environment, and calls
// mpirun if no launcher was used. It includes nothing of MPI and works without it.
#pragma once

#include <optional>

#include "base/ids.hpp"

namespace heddle::native {

/// What an MPI launcher (mpirun, srun) says of this process before MPI has started.
struct MpiHint {
    NodeId rank = 0;
    std::optional<NodeId> nodes = {};  ///< not all launchers say
};

/// Nothing where no MPI launcher started this process.
std::optional<MpiHint> mpi_hint();

/// Becomes `mpirun -n NODES` of this very command, on this machine. Throws Error where there is no mpirun,
/// and where that has led here already.
[[noreturn]] void become_mpirun(NodeId nodes);

/// For a rank other than 0 that has met a mistake: rank 0 most likely has met the same, speaks of it, and
/// ends all processes. Returns after two seconds where it did not.
void let_rank_0_speak();

/// The caller is about to exit with an error that it has printed. If an MPI launcher started it, waits a
/// moment: mpirun ends the job at the first such exit, and loses what it has not yet read.
void let_launcher_read();

}  // namespace heddle::native
