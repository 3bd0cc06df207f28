// Runs the cells of a comparison that have no result yet. Each runs in a process of its own, so that a crash
// fails only its own cell. results/comparison.hpp evaluates the results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/comparison_plan.hpp"
#include "host/process_pool.hpp"
#include "results/cells.hpp"

namespace heddle::cli {

struct RunnerOptions {
    std::string directory;
    std::size_t width = 1;      ///< processes at a time; cells that run alone have the machine for themselves
    bool retry_failed = false;  ///< run again what failed earlier
    std::size_t shard = 0;      ///< only cells whose index leaves this remainder ...
    std::size_t shards = 1;     ///< ... when divided by this
    NodeId processes = 0;       ///< only cells that need so many processes; 0: all
    bool record = false;        ///< record workers and tasks of the first seed of each combination
    bool name_failures = true;  ///< while they run; else the caller names them
    bool claim = false;         ///< only cells that no other process with this setting runs or has run
};

/// Runs what is missing, with progress on standard error. `outcomes`, of all cells of the plan, says what is
/// there, and does so afterwards. Returns 0, or the signal that told this process to stop. Throws Error.
int run_cells(const Plan& plan, const RunnerOptions& options, std::vector<results::Outcome>& outcomes);

/// The command that runs one cell, and leaves its result below `directory`. The caller makes the tables.
std::vector<std::string> command_line_of(const Cell& cell, const std::string& directory);

/// What a cell whose process has ended left behind. Writes a failure if it left no result. Nothing if a
/// signal stopped it: then the cell is not finished. Throws Error.
std::optional<results::Outcome> outcome_after(const Cell& cell, const std::string& directory,
                                              const host::JobEnd& end);

/// What a cell whose process ended so has to say for itself.
std::string error_in_words(int exit_code, const std::string& errors);

}  // namespace heddle::cli
