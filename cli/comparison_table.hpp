// Prints a comparison as a table in text.
#pragma once

#include <string>

#include "results/comparison.hpp"

namespace heddle::cli {

/// A block for each group, the best of it marked, and what the words mean below.
std::string comparison_table(const results::Comparison& comparison);

}  // namespace heddle::cli
