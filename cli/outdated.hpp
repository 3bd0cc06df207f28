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

/// How many cells of the plan have an earlier result only, by what changed. `outcomes`: of the cells, in
/// their order.
std::map<std::string, std::size_t> outdated_results(const std::vector<Cell>& cells,
                                                    const std::string& directory,
                                                    const std::vector<results::Outcome>& outcomes);

/// Says on standard error which cells are missing because something changed, if nothing is to run.
void name_outdated(const std::map<std::string, std::size_t>& by_change);

}  // namespace heddle::cli
