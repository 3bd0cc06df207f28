// Reads the `compare` section: lists of values, `zip` (values in pairs), `variants` (named sets), and the
// pivot.
#include "configs/compare_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/settings.hpp"

namespace heddle::configs {

namespace {

std::string yaml_of(const Value& value, bool within_list) {
    if (value.kind == Value::Kind::list) {
        std::string items;
        for (const Value& item : value.children) items += (items.empty() ? "" : ", ") + yaml_of(item, true);
        return fmt::format("[{}]", items);
    }
    if (value.kind == Value::Kind::mapping) {
        std::string entries;
        for (const Value& entry : value.children)
            entries += fmt::format("{}{}: {}", entries.empty() ? "" : ", ", nlohmann::json(entry.key).dump(),
                                   yaml_of(entry, true));
        return fmt::format("{{{}}}", entries);
    }
    if (value.kind == Value::Kind::null) return "null";
    // JSON where the plain text could be taken for something else.
    const bool plain =
        !value.quoted && (!within_list || value.text.find_first_of(",[]{}\"'#:") == std::string::npos);
    return plain ? value.text : nlohmann::json(value.text).dump();
}

void expect_mapping(const Value& value, const std::string& what, const char* advice) {
    if (value.kind == Value::Kind::mapping && !value.children.empty()) return;
    throw Error(fmt::format("{}: expected keys with values, found {}", what,
                            value.kind == Value::Kind::mapping ? "none" : value.described()),
                advice, value.where);
}

/// The values of a key: a list that is not empty.
const std::vector<Value>& values_of(const Value& line, const std::string& what) {
    if (line.kind == Value::Kind::list && !line.children.empty()) return line.children;
    throw Error(fmt::format("{}: {}: expected a list of values, found {}", what, line.key,
                            line.kind == Value::Kind::list ? "an empty one" : line.described()),
                fmt::format("write it like `{}: [first, second]`", line.key), line.where);
}

Axis plain_axis(const Value& line) {
    Axis axis{{line.key}, {}, line.key_where};
    for (const Value& value : values_of(line, "compare"))
        axis.points.push_back({{for_people(value)}, {{line.key, value}}, value.where});
    return axis;
}

constexpr const char* zip_advice =
    "write it like `zip: {platform.nodes: [1, 4], workload.n: [20, 22]}`: the first values go together, then "
    "the second ones";

Axis zip_axis(const Value& mapping) {
    expect_mapping(mapping, "compare.zip", zip_advice);
    Axis axis{{}, {}, mapping.where};
    for (const Value& line : mapping.children) {
        const std::vector<Value>& values = values_of(line, "compare.zip");
        if (axis.keys.empty()) axis.points.resize(values.size());
        if (values.size() != axis.points.size()) {
            throw Error(fmt::format("compare.zip: {} has {} values, and {} has {}", line.key, values.size(),
                                    axis.keys.front(), axis.points.size()),
                        "state equally many", line.where);
        }
        axis.keys.push_back(line.key);
        for (std::size_t i = 0; i < values.size(); ++i) {
            axis.points[i].shown.push_back(for_people(values[i]));
            axis.points[i].sets.emplace_back(line.key, values[i]);
            axis.points[i].where = values[i].where;
        }
    }
    return axis;
}

constexpr const char* variants_advice =
    "write it like `variants: {plain: {}, tuned: {schedule.stealing.victim: hierarchical}}`";

Axis variants_axis(const Value& mapping) {
    expect_mapping(mapping, "compare.variants", variants_advice);
    Axis axis{{variant_key}, {}, mapping.where};
    for (const Value& variant : mapping.children) {
        const bool empty = variant.kind == Value::Kind::null;
        if (variant.kind != Value::Kind::mapping && !empty)
            throw Error(fmt::format("compare.variants.{}: expected keys with values, found {}", variant.key,
                                    variant.described()),
                        variants_advice, variant.where);
        Point point{{variant.key}, {}, variant.key_where};
        for (const Value& entry : variant.children) point.sets.emplace_back(entry.key, entry);
        axis.points.push_back(std::move(point));
    }
    return axis;
}

std::string word_in(const Value& entry) {
    if (entry.kind == Value::Kind::scalar) return entry.text;
    throw Error(fmt::format("compare.pivot.{}: expected a word, found {}", entry.key, entry.described()), "",
                entry.where);
}

Pivot read_pivot(const Value& mapping) {
    constexpr const char* advice =
        "write it like `pivot: {rows: schedule.placement, columns: schedule.stealing.victim}`";
    expect_mapping(mapping, "compare.pivot", advice);
    Pivot pivot;
    pivot.where = mapping.where;
    for (const Value& entry : mapping.children) {
        if (entry.key == "rows") {
            pivot.rows = word_in(entry);
        } else if (entry.key == "columns") {
            pivot.columns = word_in(entry);
        } else if (entry.key == "shows") {
            pivot.shows = word_in(entry);
            const std::vector<std::string> known = {"median", "ratio", "speedup", "efficiency"};
            if (std::find(known.begin(), known.end(), pivot.shows) == known.end())
                throw Error(fmt::format("compare.pivot.shows: unknown value \"{}\"", pivot.shows),
                            nearest_advice(pivot.shows, known), entry.where);
        } else {
            throw Error(fmt::format("unknown key \"{}\" in compare.pivot", entry.key),
                        nearest_advice(entry.key, {"rows", "columns", "shows"}), entry.key_where);
        }
    }
    if (pivot.rows.empty() || pivot.columns.empty())
        throw Error("compare.pivot: rows and columns are both needed", advice, mapping.where);
    return pivot;
}

[[noreturn]] void refuse_twice(const std::string& key, const Location& where) {
    throw Error(fmt::format("compare: {} varies in two places", key), "leave one of them out", where);
}

/// Whether one key sets the other one, too: they are the same, or one is a section with the other in it.
bool overlap(const std::string& one, const std::string& other) {
    return one == other || one.starts_with(other + ".") || other.starts_with(one + ".");
}

/// The keys of all axes. Throws Error if two overlap, or if a variant sets one: a combination would not have
/// the value that it shows.
std::vector<std::string> keys_of(const std::vector<Axis>& axes) {
    std::vector<std::string> keys;
    const auto has = [&keys](const std::string& key) {
        return std::ranges::any_of(keys, [&](const std::string& other) { return overlap(key, other); });
    };
    for (const Axis& axis : axes) {
        for (const std::string& key : axis.keys) {
            if (has(key)) refuse_twice(key, axis.where);
            keys.push_back(key);
        }
    }
    for (const Axis& axis : axes) {
        if (axis.keys.front() != variant_key) continue;
        for (const Point& variant : axis.points)
            for (const auto& [key, value] : variant.sets)
                if (has(key)) refuse_twice(key, value.key_where);
    }
    return keys;
}

void check_references(const CompareSection& section) {
    const std::vector<std::string> keys = keys_of(section.axes);
    const auto require = [&keys](const std::string& what, const std::string& key, const Location& where) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) return;
        throw Error(fmt::format("{}: {} is not compared", what, key), nearest_advice(key, keys), where);
    };
    for (const Value& value : section.baseline) {
        require("compare.baseline", value.key, value.key_where);
        const auto has = [&value](const Axis& axis) {
            const auto key = std::find(axis.keys.begin(), axis.keys.end(), value.key);
            if (key == axis.keys.end()) return false;
            const auto place = static_cast<std::size_t>(key - axis.keys.begin());
            return std::any_of(axis.points.begin(), axis.points.end(),
                               [&](const Point& point) { return point.shown[place] == for_people(value); });
        };
        if (std::none_of(section.axes.begin(), section.axes.end(), has))
            throw Error(fmt::format("compare.baseline: {} is never {}", value.key, for_people(value)),
                        "name one of its compared values", value.where);
    }
    if (!section.pivot) return;
    require("compare.pivot.rows", section.pivot->rows, section.pivot->where);
    require("compare.pivot.columns", section.pivot->columns, section.pivot->where);
    if (section.pivot->rows == section.pivot->columns)
        throw Error("compare.pivot: rows and columns are one key", "name two", section.pivot->where);
    const bool relative = section.pivot->shows == "speedup" || section.pivot->shows == "efficiency";
    if (relative && section.baseline.empty())
        throw Error(fmt::format("compare.pivot.shows is {}, and there is no baseline", section.pivot->shows),
                    "add one, such as `baseline: {platform.nodes: 1}`", section.pivot->where);
}

/// Whether no two points of an axis have one value of `key` and different ones of `other`.
bool follows_from(const Axis& axis, std::size_t key, std::size_t other) {
    std::map<std::string, std::string> found;
    return std::ranges::all_of(axis.points, [&](const Point& point) {
        return found.try_emplace(point.shown[key], point.shown[other]).first->second == point.shown[other];
    });
}

}  // namespace

std::vector<std::string> competing_keys(const CompareSection& section) {
    if (!section.pivot) return section.axes.back().keys;
    std::vector<std::string> competing;
    for (const Axis& axis : section.axes) {
        for (std::size_t other = 0; other < axis.keys.size(); ++other) {
            bool competes = false;
            for (std::size_t key = 0; key < axis.keys.size(); ++key)
                if (axis.keys[key] == section.pivot->rows || axis.keys[key] == section.pivot->columns)
                    competes = competes || follows_from(axis, key, other);
            if (competes) competing.push_back(axis.keys[other]);
        }
    }
    return competing;
}

std::string as_yaml(const Value& value) {
    return yaml_of(value, false);
}

std::string for_people(const Value& value) {
    return value.kind == Value::Kind::scalar ? value.text : as_yaml(value);
}

CompareSection read_compare_section(const Value& section) {
    if (section.kind != Value::Kind::mapping) {
        throw Error(fmt::format("compare: expected keys with lists, found {}", section.described()),
                    "write it like `compare: {platform.nodes: [1, 10, 100]}`", section.where);
    }
    CompareSection read;
    read.section = section;
    for (const Value& line : section.children) {
        if (line.key == "zip") {
            if (line.kind == Value::Kind::list) {
                for (const Value& mapping : line.children) read.axes.push_back(zip_axis(mapping));
            } else {
                read.axes.push_back(zip_axis(line));
            }
        } else if (line.key == "variants") {
            read.axes.push_back(variants_axis(line));
        } else if (line.key == "pivot") {
            read.pivot = read_pivot(line);
        } else if (line.key == "baseline") {
            expect_mapping(line, "compare.baseline", "write it like `baseline: {platform.nodes: 1}`");
            read.baseline = line.children;
        } else {
            read.axes.push_back(plain_axis(line));
        }
    }
    check_references(read);
    return read;
}

}  // namespace heddle::configs
