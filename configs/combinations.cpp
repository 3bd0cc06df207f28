// Forms the product of a `compare` section's axes, and finds the baseline and published values of
// combinations.
#include "configs/combinations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::configs {

namespace {

/// What a combination is made of: the keys with what people see, and what it sets.
struct Choice {
    std::vector<std::string> keys;
    Point point;

    void add(const Axis& axis, const Point& chosen) {
        keys.insert(keys.end(), axis.keys.begin(), axis.keys.end());
        point.shown.insert(point.shown.end(), chosen.shown.begin(), chosen.shown.end());
        point.sets.insert(point.sets.end(), chosen.sets.begin(), chosen.sets.end());
    }
};

/// The experiment with what is chosen, which `section` gives it.
Combination combine(const std::string& text, const std::string& file, std::vector<Override> overrides,
                    const std::string& section, const Choice& choice) {
    Combination combination;
    combination.values = choice.point.shown;
    for (std::size_t i = 0; i < choice.keys.size(); ++i)
        combination.words += fmt::format("{}{}={}", i == 0 ? "" : " ", choice.keys[i], choice.point.shown[i]);
    for (const auto& [key, value] : choice.point.sets)
        combination.assignment.push_back({key, as_yaml(value), section, value});
    overrides.insert(overrides.end(), combination.assignment.begin(), combination.assignment.end());
    overrides.push_back({"compare", "{}", "compare"});
    try {
        combination.experiment = read_experiment_text(text, file, overrides);
    } catch (const Error& error) {
        throw error.reworded(fmt::format("{}, {}: {}", section, combination.words, error.message()),
                             error.where());
    }
    return combination;
}

/// The number of a combination whose points are `chosen`, a place on each axis.
std::size_t number_of(const std::vector<std::size_t>& chosen, const std::vector<Axis>& axes) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) number = number * axes[i].points.size() + chosen[i];
    return number;
}

/// The places of combination `number`, the reverse of that.
std::vector<std::size_t> places_of(std::size_t number, const std::vector<Axis>& axes) {
    std::vector<std::size_t> chosen(axes.size());
    for (std::size_t i = axes.size(); i-- > 0;) {
        chosen[i] = number % axes[i].points.size();
        number /= axes[i].points.size();
    }
    return chosen;
}

/// The axis's keys that the baseline states, as places, with their values as people see them.
using StatedValues = std::vector<std::pair<std::size_t, std::string>>;

StatedValues stated_of(const Axis& axis, const std::vector<Value>& baseline) {
    StatedValues stated;
    for (const Value& value : baseline) {
        const auto key = std::find(axis.keys.begin(), axis.keys.end(), value.key);
        if (key != axis.keys.end())
            stated.emplace_back(static_cast<std::size_t>(key - axis.keys.begin()), for_people(value));
    }
    return stated;
}

/// The points of an axis that have the values which the baseline states for its keys.
class BaselinePoints {
public:
    BaselinePoints(const Axis& axis, const std::vector<Value>& baseline)
        : axis_(axis), stated_(stated_of(axis, baseline)), where_(baseline.front().where) {
        for (std::size_t k = 0; k < axis.points.size(); ++k)
            if (has_stated(axis.points[k])) points_.push_back(k);
        if (points_.empty())
            throw Error("compare.baseline: its values do not go together",
                        "state values that one point of `zip` has", where_);
    }

    /// The one that point `own` is compared with: if there are several, the one with its values of the keys
    /// that the baseline does not state.
    std::size_t of(std::size_t own) const {
        if (stated_.empty()) return own;
        if (points_.size() == 1) return points_.front();
        const auto found = std::ranges::find_if(
            points_, [&](std::size_t k) { return differ_as_stated(axis_.points[k], axis_.points[own]); });
        if (found != points_.end()) return *found;
        throw Error(
            fmt::format("compare.baseline: {} points of `zip` have its values, and none has the other "
                        "values of {}",
                        points_.size(), words_of(axis_.points[own])),
            "state more of the keys of `zip`", where_);
    }

private:
    bool has_stated(const Point& point) const {
        return std::ranges::all_of(stated_,
                                   [&](const auto& one) { return point.shown[one.first] == one.second; });
    }

    bool differ_as_stated(const Point& one, const Point& other) const {
        for (std::size_t i = 0; i < axis_.keys.size(); ++i) {
            const bool is_stated =
                std::ranges::any_of(stated_, [i](const auto& stated) { return stated.first == i; });
            if (!is_stated && one.shown[i] != other.shown[i]) return false;
        }
        return true;
    }

    std::string words_of(const Point& point) const {
        std::string words;
        for (std::size_t i = 0; i < axis_.keys.size(); ++i)
            words += fmt::format("{}{}={}", i == 0 ? "" : " ", axis_.keys[i], point.shown[i]);
        return words;
    }

    const Axis& axis_;
    StatedValues stated_;
    Location where_;
    std::vector<std::size_t> points_;
};

/// Each combination's baseline: the same, but for the keys that the baseline states.
void find_baselines(Combinations& combinations) {
    const CompareSection& section = combinations.base.compare;
    if (section.baseline.empty()) return;
    std::vector<BaselinePoints> axes;
    axes.reserve(section.axes.size());
    for (const Axis& axis : section.axes) axes.emplace_back(axis, section.baseline);
    for (std::size_t number = 0; number < combinations.all.size(); ++number) {
        std::vector<std::size_t> chosen = places_of(number, section.axes);
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = axes[i].of(chosen[i]);
        combinations.baselines.push_back(number_of(chosen, section.axes));
    }
}

/// The one combination that has these values of compared keys. `list` and `where` are for errors.
std::size_t cell_with(const std::vector<Value>& values, const Combinations& combinations,
                      const std::string& list, const Location& where) {
    std::vector<std::pair<std::size_t, std::string>> wanted;
    for (const Value& value : values) {
        const auto key = std::find(combinations.keys.begin(), combinations.keys.end(), value.key);
        if (key == combinations.keys.end())
            throw Error(fmt::format("published.{}: {} is not compared", list, value.key),
                        "name a cell by keys of `compare` and their values", value.key_where);
        wanted.emplace_back(static_cast<std::size_t>(key - combinations.keys.begin()), for_people(value));
    }
    std::size_t found = 0;
    std::size_t cell = 0;
    for (std::size_t i = 0; i < combinations.all.size(); ++i) {
        const std::vector<std::string>& has = combinations.all[i].values;
        if (!std::all_of(wanted.begin(), wanted.end(),
                         [&has](const auto& value) { return has[value.first] == value.second; }))
            continue;
        ++found;
        cell = i;
    }
    if (found != 1)
        throw Error(fmt::format("published.{}: a line that is about {} of the cells", list, found),
                    "name one cell by the keys of `compare` and their values", where);
    return cell;
}

/// What a line of `improvements` is over: its cell, with the values of `over`.
std::vector<Value> values_of_other(const PublishedNumber& line) {
    std::vector<Value> values = line.over;
    for (const Value& value : line.of) {
        if (std::none_of(line.over.begin(), line.over.end(),
                         [&value](const Value& other) { return other.key == value.key; }))
            values.push_back(value);
    }
    return values;
}

[[noreturn]] void refuse_cells(const Experiment& experiment) {
    throw Error(
        fmt::format("more than {} cells, with {} repeats of a combination", cells_max, experiment.repeat),
        "state a lower `repeat`, or leave some values out", experiment.where("repeat"));
}

[[noreturn]] void refuse_second_line(const std::string& list, const Location& where) {
    throw Error(fmt::format("published.{}: a second line about one cell", list), "leave one of them out",
                where);
}

void add_published(std::vector<Combinations::PublishedCell>& all, const Combinations::PublishedCell& added,
                   const std::string& list, const Location& where) {
    const bool known = std::ranges::any_of(all, [&added](const Combinations::PublishedCell& other) {
        return other.cell == added.cell && other.other == added.other;
    });
    if (known) refuse_second_line(list, where);
    all.push_back(added);
}

void find_published(Combinations& combinations) {
    const Published& published = *combinations.base.published;
    for (const PublishedNumber& line : published.speedups) {
        const std::size_t cell = cell_with(line.of, combinations, "speedups", line.where);
        std::optional<double>& speedup = combinations.published_speedups[cell];
        if (speedup) refuse_second_line("speedups", line.where);
        speedup = line.value;
    }
    for (const PublishedNumber& line : published.seconds) {
        const std::size_t cell = cell_with(line.of, combinations, "seconds", line.where);
        add_published(combinations.published_seconds, {cell, cell, line.value}, "seconds", line.where);
    }
    for (const PublishedNumber& line : published.improvements) {
        const std::size_t cell = cell_with(line.of, combinations, "improvements", line.where);
        const std::size_t other = cell_with(values_of_other(line), combinations, "improvements", line.where);
        if (cell == other)
            throw Error("published.improvements: a line whose `over` is its own cell",
                        "state in `over` what the other cell has in place of this one's values", line.where);
        add_published(combinations.published_improvements, {cell, other, line.value}, "improvements",
                      line.where);
    }
}

}  // namespace

Combinations read_combinations_text(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides, Axes needed) {
    Combinations combinations;
    combinations.base = read_experiment_text(text, file, overrides);
    const std::vector<Axis>& axes = combinations.base.compare.axes;
    if (axes.empty() && needed == Axes::needed) {
        throw Error(
            "nothing is compared",
            "add a section such as `compare: {platform.nodes: [1, 10, 100]}`; every combination of the "
            "values becomes a cell",
            {file, 0});
    }
    std::size_t count = 1;
    for (const Axis& axis : axes) {
        combinations.keys.insert(combinations.keys.end(), axis.keys.begin(), axis.keys.end());
        count *= axis.points.size();
        if (count > combinations_max) {
            throw Error(fmt::format("more than {} combinations", combinations_max),
                        "leave some values out, or make several files", axis.where);
        }
    }
    combinations.all.reserve(count);
    std::size_t cells = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::vector<std::size_t> chosen = places_of(i, axes);
        Choice choice;
        for (std::size_t k = 0; k < axes.size(); ++k) choice.add(axes[k], axes[k].points[chosen[k]]);
        combinations.all.push_back(combine(text, file, overrides, "compare", choice));
        cells += combinations.all.back().experiment.repeat;
        if (cells > cells_max) refuse_cells(combinations.all.back().experiment);
    }
    find_baselines(combinations);
    combinations.published_speedups.resize(count);
    if (const auto& published = combinations.base.published) {
        Choice choice;
        for (const Value& value : published->baseline)
            choice.add({{value.key}, {}, {}}, {{for_people(value)}, {{value.key, value}}, value.where});
        if (!published->baseline.empty())
            combinations.baseline = combine(text, file, overrides, "published.baseline", choice);
        find_published(combinations);
    }
    return combinations;
}

Combinations read_combinations(const std::string& path, const std::vector<Override>& overrides, Axes axes) {
    return read_combinations_text(read_text_file(path), path, overrides, axes);
}

}  // namespace heddle::configs
