// Prints published speedups, seconds and improvements beside the measured ones, for one or several
// comparisons. Runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/comparison_plan.hpp"
#include "results/cells.hpp"

namespace heddle::cli {

struct PublishedRow {
    enum class Measure : std::uint8_t {
        speedup,
        seconds,
        improvement  ///< percent
    };

    std::string what;  ///< and where it was published
    std::string source;
    std::string cell;  ///< `nodes 16, cores 2`
    Measure measure = Measure::speedup;
    std::string over;  ///< of an improvement: the cell that takes longer; of a speedup: the baseline
    std::optional<double> found;
    std::optional<double> published;
};

/// None if a plan's file has no `published` section. Else a row for each of its combinations, if the section
/// has a baseline: the speedup is the baseline's median makespan over that of the combination. And a row for
/// each published number of seconds, and for each improvement: by how many percent the median makespan is
/// shorter than the other cell's. `outcomes`: of the plan's cells.
std::vector<PublishedRow> published_rows(const Plan& plan, const std::vector<results::Outcome>& outcomes);

/// For people: a table for each measure.
std::string published_table(const std::vector<PublishedRow>& rows);

/// A list of objects, as JSON.
std::string published_json(const std::vector<PublishedRow>& rows);

}  // namespace heddle::cli
