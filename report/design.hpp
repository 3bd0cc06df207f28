// Finds which keys vary between the runs of a report (the factors of the experiment), and which do not.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/runs.hpp"

namespace heddle::report {

/// A key with several values.
struct Factor {
    std::string column;                  ///< of runs.csv, or `directory`
    std::string key;                     ///< as a file states it: platform.nodes
    std::string unit;                    ///< empty if it has none
    bool is_number = false;              ///< each value is a number
    std::vector<std::string> values;     ///< in ascending order, texts as they first come
    std::vector<std::string> goes_with;  ///< keys whose values follow from this one's

    /// A value for people, with its unit.
    std::string shown(const std::string& value) const;
};

/// Runs that differ in nothing but the seed: their input files and program are the same.
struct Combination {
    std::vector<std::string> values;  ///< of the factors
    std::vector<std::size_t> runs;    ///< indices into Runs::all
};

struct Design {
    std::vector<Factor> factors;
    std::vector<Combination> combinations;  ///< in the order of the factors' values
    std::vector<std::pair<std::string, std::string>>
        common;  ///< keys that a reader wants to know, with values

    /// Index of the factor of this column, or factors.size().
    std::size_t find(const std::string& column) const;
};

/// A key is a factor if its values differ, and if they do not follow from those of another factor. So are
/// `files` and `program` if runs with equal keys differ in their digests. A key in `wanted` is a factor if
/// its values differ, and others may follow from it.
Design design_of(const Runs& runs, const std::vector<std::string>& wanted = {});

}  // namespace heddle::report
