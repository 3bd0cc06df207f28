// Simulates the schedules that native runs had: each task on its worker, in the order in which that ran them.
// So the error of a simulation divides into that of times, which a replay has, and that of scheduling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/validation_runner.hpp"

namespace heddle::cli {

struct ReplayResult {
    std::size_t without_graph = 0;    ///< configurations whose tasks are not those of a placed graph
    std::size_t without_record = 0;   ///< native runs that were made without one
    std::vector<std::string> failed;  ///< what replays that failed have to say
    int signal = 0;                   ///< that told this process to stop, or 0
};

/// `read`: only those that are there already.
enum class Replays : std::uint8_t { run, read };

/// Replays each right native run of `pairs` that left a record in `directory` (ValidationOptions::record),
/// and adds the outcomes to the pairs. A replay that is there already is not run again. Throws Error.
ReplayResult replay_runs(const WorldPlans& plans, const std::string& directory, Replays how,
                         std::vector<results::WorldPair>& pairs);

}  // namespace heddle::cli
