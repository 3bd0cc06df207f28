// The `compare` section of an experiment: what varies, what its matrix shows, and what speedups are relative
// to. It checks the form only; configs/experiment.cpp checks that the keys exist.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/document.hpp"

namespace heddle::configs {

/// One place on an axis: what people see, a text for each key of the axis, and what it sets.
struct Point {
    std::vector<std::string> shown;
    std::vector<std::pair<std::string, Value>> sets;  ///< dotted keys with values
    Location where;
};

/// Values that vary together: those of one key; of several keys, pair by pair (`zip`); or named sets of
/// values (`variants`, whose key is `variant`). Combinations are the product of all axes.
struct Axis {
    std::vector<std::string> keys;
    std::vector<Point> points;
    Location where;
};

/// A matrix in place of a list: a row for each value of one key, a column for each value of another.
struct Pivot {
    std::string rows;
    std::string columns;
    std::string shows = "median";  ///< or ratio, speedup, efficiency
    Location where;
};

struct CompareSection {
    std::vector<Axis> axes;       ///< in the order of the file
    std::optional<Pivot> pivot;   ///< its keys are keys of axes
    std::vector<Value> baseline;  ///< compared keys with a value each
    Value section;                ///< as it was written
};

/// The key of an axis of variants.
inline constexpr const char* variant_key = "variant";

/// Throws Error, with file and line, for everything that is not such a section.
CompareSection read_compare_section(const Value& section);

/// The keys that compete in one group: those of the pivot, and the keys of their axes whose values follow
/// from theirs, as the problem's size follows from the nodes in weak scaling. Without a pivot those of the
/// last axis. The section has an axis.
std::vector<std::string> competing_keys(const CompareSection& section);

/// A value as people write it, and as YAML that reads back as the same value.
std::string for_people(const Value& value);
std::string as_yaml(const Value& value);

}  // namespace heddle::configs
