// Prints a comparison as a matrix: a row for each value of one key, a column for each value of another.
#pragma once

#include <string>

#include "configs/compare_section.hpp"
#include "results/comparison.hpp"

namespace heddle::cli {

/// A matrix for each group. The best of a group has a `*`, and whatever is not significantly worse a `~`.
/// The pivot's two keys must be among those of `comparison` that compete, and the values of the others must
/// follow from those of one of the two: they are in brackets beside these.
std::string pivot_table(const results::Comparison& comparison, const configs::Pivot& pivot);

}  // namespace heddle::cli
