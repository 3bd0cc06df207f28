// The cells of a comparison: every combination with every seed, each with its name and the command that runs
// it. Starts nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/cell.hpp"
#include "configs/combinations.hpp"

namespace heddle::cli {

struct Cell {
    std::string name;  ///< of its directory
    configs::Determinants determinants;
    std::size_t combination;  ///< the first that it belongs to
    std::uint64_t seed;
    std::vector<std::string> words;  ///< of the command line, after `heddle`
    NodeId processes;                ///< that run it
    bool alone;                      ///< its times, or those of its code, are real: others would disturb them
};

struct Plan {
    configs::Combinations combinations;
    std::vector<Cell> cells;                     ///< each once, in the order of the file
    std::vector<std::vector<std::size_t>> runs;  ///< the cells of each combination, one for each seed
    std::vector<std::size_t> baseline;           ///< the same of the published section's baseline

    /// What a cell is first of all.
    const configs::Combination& combination(const Cell& cell) const;

    std::vector<std::string> names() const;

    /// What tells a cell from the others: `platform.nodes=4 seed=2`.
    std::string described(const Cell& cell) const;
};

/// Reads the file and lays out its cells. Throws Error, also for a world that cannot be had.
Plan make_plan(const std::string& file, const std::vector<configs::Override>& overrides,
               configs::Axes axes = configs::Axes::needed);

/// Throws Error for an experiment that the processes of the cells could not read again, such as a pipe.
void expect_readable_by_cells(const std::string& file);

/// Throws Error if two cells would write one file that a setting of the workload names, or if such a file is
/// in the directory of results.
void refuse_shared_outputs(const Plan& plan, const std::string& directory);

/// A text as --set reads it: quoted where plain YAML would be something else, as with ` #` or `: `.
std::string as_yaml(const std::string& text);

}  // namespace heddle::cli
