// Runs an experiment on this machine: chooses the native backend's options by the experiment and the command
// line.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "configs/experiment.hpp"
#include "runtime/backend.hpp"
#include "runtime/native/job_start.hpp"

namespace heddle::cli {

/// `group`: of each node, as Topology::group. Throws Error.
std::unique_ptr<runtime::Backend> make_native(const configs::Experiment& experiment,
                                              std::vector<std::uint32_t> group);

/// How the processes of a job step meet, by what the experiment states. Throws Error.
native::JobMeeting job_meeting(const configs::Experiment& experiment);

/// Where MPI carries a network: before anything else uses the launcher's interface (PMIx), which Open MPI
/// cannot take up after another user. Throws Error.
void start_mpi_first(const configs::Experiment& experiment);

/// Throws Error, with its line, for ports that are none.
void check_ports(const configs::Experiment& experiment);

}  // namespace heddle::cli
