// Prints a comparison as a table: a line for each combination, with its median and its distance from the
// best.
#include "cli/comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/units.hpp"
#include "cli/text_table.hpp"
#include "results/pair_tests.hpp"

namespace heddle::cli {

namespace {

using results::Comparison;
using results::Group;
using results::Line;
using results::Standing;

std::string last_part(const std::string& key) {
    const std::size_t dot = key.rfind('.');
    return dot == std::string::npos ? key : key.substr(dot + 1);
}

/// Keys without their sections, where that leaves them apart.
std::vector<std::string> short_names(const std::vector<std::string>& keys) {
    std::vector<std::string> names;
    for (const std::string& key : keys) {
        const auto same = std::count_if(keys.begin(), keys.end(), [&key](const std::string& other) {
            return last_part(other) == last_part(key);
        });
        names.push_back(same == 1 ? last_part(key) : key);
    }
    return names;
}

std::string ratio_in_words(const std::optional<results::Ratio>& ratio) {
    if (!ratio) return "-";
    if (!ratio->interval) return fmt::format("{:.2f}", ratio->value);
    return fmt::format("{:.2f} ({:.2f}-{:.2f})", ratio->value, ratio->interval->low, ratio->interval->high);
}

std::vector<std::string> row_of(const Line& line, bool speedups) {
    std::vector<std::string> row = {line.standing == Standing::best ? "*" : ""};
    row.insert(row.end(), line.values.begin(), line.values.end());
    if (line.runs == 0) {
        row.insert(row.end(), {"-", "", "", "", ""});
    } else {
        const std::optional<results::Interval>& interval = line.interval_seconds;
        row.insert(row.end(), {show_seconds(line.median_seconds), interval ? show_seconds(interval->low) : "",
                               interval ? show_seconds(interval->high) : "",
                               line.ratio ? fmt::format("{:.2f}", *line.ratio) : "-",
                               line.lower_bound_seconds ? show_seconds(*line.lower_bound_seconds) : "-"});
    }
    if (speedups) row.insert(row.end(), {ratio_in_words(line.speedup), ratio_in_words(line.efficiency)});
    row.push_back(results::standing_in_words(line));
    return row;
}

std::string heading(const Comparison& comparison, const Group& group) {
    std::string text;
    for (std::size_t i = 0; i < group.values.size(); ++i)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", comparison.group_keys[i], group.values[i]);
    return text;
}

bool speedups_in(const Comparison& comparison) {
    for (const Group& group : comparison.groups)
        for (const Line& line : group.lines)
            if (line.speedup) return true;
    return false;
}

/// The lines of a group that a test may count. All repeats of one whose seed has no influence stay identical.
std::size_t contenders_of(const Group& group) {
    return static_cast<std::size_t>(
        std::ranges::count_if(group.lines, [](const Line& line) { return !line.identical; }));
}

std::string legend(const Comparison& comparison) {
    std::string text = fmt::format(
        "* the least median of its group; {:.0f}% intervals of medians. worse: by Mann and Whitney's test,\n"
        "  Holm's correction over all pairs of the group, p below {}. bound: no run of this work on this\n"
        "  machine can be shorter.\n",
        100 * results::interval_confidence, results::level);
    const bool large = std::ranges::any_of(comparison.groups, [](const Group& group) {
        return contenders_of(group) > results::PairTests::holm_max;
    });
    if (large)
        text +=
            fmt::format("  Of more than {} the correction is Bonferroni's.\n", results::PairTests::holm_max);
    std::size_t untested = 0;  // of the groups with such a line, the most contenders
    bool too_few = false;
    for (const Group& group : comparison.groups) {
        for (const Line& line : group.lines) {
            if (line.standing == Standing::untested) untested = std::max(untested, contenders_of(group));
            too_few = too_few || (line.runs > 0 && !line.identical && !line.interval_seconds);
        }
    }
    if (speedups_in(comparison))
        text += "  speedup: the baseline's median over this one; efficiency: per worker and unit of work.\n";
    if (too_few)
        text += fmt::format("  Too few runs for an interval of each median: --repeat {}\n",
                            results::interval_values(results::interval_confidence));
    if (untested > 0) {
        text +=
            fmt::format("  More runs are needed before a difference can be more than chance: --repeat {}\n",
                        results::runs_needed(untested));
    }
    return text;
}

}  // namespace

std::string comparison_table(const Comparison& comparison) {
    const bool speedups = speedups_in(comparison);
    std::vector<std::vector<std::string>> rows(1, {""});
    for (const std::string& name : short_names(comparison.keys)) rows[0].push_back(name);
    const std::size_t left = rows[0].size();
    rows[0].insert(rows[0].end(), {"median", "from", "to", "ratio", "bound"});
    if (speedups) rows[0].insert(rows[0].end(), {"speedup", "efficiency"});
    rows[0].emplace_back("against the best");
    for (const Group& group : comparison.groups)
        for (const Line& line : group.lines) rows.push_back(row_of(line, speedups));
    // The last column is aligned to the left too: all of its texts get one length.
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row.back().size());
    for (auto& row : rows) row.back().resize(longest, ' ');

    std::istringstream lines(columns(rows, left));
    std::string line;
    std::getline(lines, line);
    std::string text = line + "\n";
    for (const Group& group : comparison.groups) {
        if (!group.values.empty()) text += "\n" + heading(comparison, group) + "\n";
        for (std::size_t i = 0; i < group.lines.size() && std::getline(lines, line); ++i) text += line + "\n";
    }
    return text + "\n" + legend(comparison);
}

}  // namespace heddle::cli
