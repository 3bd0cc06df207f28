// Detects whether a cluster's launcher (srun, mpirun) started this process as one of several alike.
#pragma once

#include <optional>
#include <string>

#include "base/ids.hpp"

namespace heddle::native {

/// One of several processes that a launcher started from one command line.
struct JobStep {
    std::string variable;  ///< the environment variable that says so
    NodeId rank = 0;
    NodeId processes = 1;
};

/// The environment variable by which a user says that the processes of a job step are runs of their own.
inline constexpr const char* independent_variable = "HEDDLE_INDEPENDENT";

/// Nothing if this process was started alone, or is declared independent.
std::optional<JobStep> job_step();

}  // namespace heddle::native
