// Finds results in a directory that cells of a plan would have, but for a file or the program that changed
// since.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/comparison_plan.hpp"
#include "results/cells.hpp"

namespace heddle::cli {

/// What each cell left in `directory`, in the order of the cells.
std::vector<results::Outcome> read_outcomes(const std::vector<Cell>& cells, const std::string& directory);

struct Outdated {
    /// How many cells of the plan have an earlier result only, by what changed.
    std::map<std::string, std::size_t> by_change;
    /// How many results have a configuration that no cell has, if cells without any result are missing: the
    /// experiment may have been edited.
    std::size_t others = 0;

    /// `3 results are there of other configurations: ...`; empty if none is.
    std::string others_in_words() const;
};

/// `outcomes`: of the cells, in their order.
Outdated outdated_results(const std::vector<Cell>& cells, const std::string& directory,
                          const std::vector<results::Outcome>& outcomes);

/// Says on standard error which cells are missing because something changed, if nothing is to run.
void name_outdated(const Outdated& outdated);

}  // namespace heddle::cli
