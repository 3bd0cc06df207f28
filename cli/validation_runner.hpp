// Runs each configuration of a validation natively and in simulation, one run at a time, in random order. It
// ends when each configuration is decided or the budget is spent. results/validation.hpp evaluates the runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/comparison_plan.hpp"
#include "results/validation.hpp"

namespace heddle::cli {

/// The same combinations in both worlds, in the same order, with the same seeds.
struct WorldPlans {
    Plan native;
    Plan simulated;
};

/// Lays out up to `runs` runs of each combination in each world. A simulated node has as many cores as a
/// native one. Throws Error, also for a file that compares worlds, seeds or repeats itself.
WorldPlans make_world_plans(const std::string& file, std::vector<configs::Override> overrides,
                            std::size_t runs);

struct ValidationOptions {
    std::string directory;
    double budget_seconds = 60;
    std::size_t runs_max = 64;  ///< of each configuration in each world
    std::uint64_t seed = 1;     ///< of the order
    bool record = false;        ///< native runs leave tables of what they did
};

struct ValidationRun {
    std::vector<results::WorldPair> pairs;  ///< one for each combination
    bool budget_spent = false;
    int signal = 0;  ///< that told this process to stop, or 0
};

/// What is there already. A cell counts as in `compare`: same configuration, files and program.
std::vector<results::WorldPair> read_pairs(const WorldPlans& plans, const std::string& directory);

/// Runs what is missing, with progress on standard error. Each round has one run of each configuration in
/// each world, in random order, so that a slow drift of the machine meets all alike. Throws Error.
ValidationRun run_validation(const WorldPlans& plans, const ValidationOptions& options);

}  // namespace heddle::cli
