// Prints published speedups beside the measured ones, for one or several comparisons. Runs nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/comparison_plan.hpp"
#include "results/cells.hpp"

namespace heddle::cli {

struct PublishedRow {
    std::string what;  ///< and where it was published
    std::string source;
    std::string cell;  ///< `nodes 16, cores 2`
    std::optional<double> found;
    std::optional<double> published;
};

/// A row for each combination of a plan whose file has a `published` section; else none. `outcomes`: of the
/// plan's cells. The speedup of a combination is its baseline's median makespan over its own.
std::vector<PublishedRow> published_rows(const Plan& plan, const std::vector<results::Outcome>& outcomes);

/// For people.
std::string published_table(const std::vector<PublishedRow>& rows);

/// A list of objects, as JSON.
std::string published_json(const std::vector<PublishedRow>& rows);

}  // namespace heddle::cli
