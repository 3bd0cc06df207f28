// Simulates the schedules that native runs had: each task on its worker, in the order in which that ran them.
// So the error of a simulation divides into that of times, which a replay has, and that of scheduling.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/validation_runner.hpp"

namespace heddle::cli {

struct ReplayResult {
    std::size_t without_graph = 0;    ///< configurations whose tasks are not those of a placed graph
    std::size_t without_record = 0;   ///< native runs that were made without one
    std::vector<std::string> failed;  ///< what replays that failed have to say
    bool budget_spent = false;
    int signal = 0;  ///< that told this process to stop, or 0
};

struct ReplayOptions {
    bool run = true;             ///< else only those that are there already
    double budget_seconds = 60;  ///< from the call on: no replay begins later
};

/// Replays each right native run of `pairs` that left a record in `directory` (ValidationOptions::record),
/// and puts the outcomes into the pairs, each in the place of its native run. A right replay that is there
/// already is not run again. Throws Error if a process cannot be started.
ReplayResult replay_runs(const WorldPlans& plans, const std::string& directory, const ReplayOptions& options,
                         std::vector<results::WorldPair>& pairs);

}  // namespace heddle::cli
