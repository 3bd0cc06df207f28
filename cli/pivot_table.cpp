// Prints the matrix of a comparison with two keys, and marks the best value and those that may equal it.
#include "cli/pivot_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"
#include "cli/text_table.hpp"

namespace heddle::cli {

namespace {

using results::Line;
using results::Standing;

std::size_t place(const std::vector<std::string>& all, const std::string& one) {
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), one) - all.begin());
}

std::string value_of(const Line& line, const std::string& shows) {
    if (line.runs == 0) return "-";
    if (shows == "ratio") return line.ratio ? fmt::format("{:.2f}", *line.ratio) : "-";
    if (shows == "median") return show_seconds(line.median_seconds);
    const std::optional<results::Ratio>& ratio = shows == "speedup" ? line.speedup : line.efficiency;
    return ratio ? fmt::format("{:.2f}", ratio->value) : "-";
}

std::string text_of(const Line& line, const std::string& shows) {
    const bool worse = line.standing == Standing::worse || line.standing == Standing::longer ||
                       line.standing == Standing::no_result;
    std::string mark = line.standing == Standing::best ? "*" : worse ? " " : "~";
    if (line.bad + line.missing > 0) mark = "!";
    return value_of(line, shows) + mark;
}

std::vector<std::string> values_in(const results::Group& group, std::size_t key) {
    std::vector<std::string> values;
    for (const Line& line : group.lines)
        if (place(values, line.values[key]) == values.size()) values.push_back(line.values[key]);
    return values;
}

std::string matrix(const results::Group& group, std::size_t rows_key, std::size_t columns_key,
                   const configs::Pivot& pivot) {
    const std::vector<std::string> row_values = values_in(group, rows_key);
    const std::vector<std::string> column_values = values_in(group, columns_key);
    const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
    std::vector<std::vector<std::string>> rows(row_values.size() + 1,
                                               std::vector<std::string>(column_values.size() + 1));
    rows[0][0] = fmt::format("{} \\ {}", last(pivot.rows), last(pivot.columns));
    for (std::size_t i = 0; i < row_values.size(); ++i) rows[i + 1][0] = row_values[i];
    for (std::size_t i = 0; i < column_values.size(); ++i) rows[0][i + 1] = column_values[i] + " ";
    for (const Line& line : group.lines)
        rows[1 + place(row_values, line.values[rows_key])]
            [1 + place(column_values, line.values[columns_key])] = text_of(line, pivot.shows);
    return columns(rows, 1);
}

}  // namespace

std::string pivot_table(const results::Comparison& comparison, const configs::Pivot& pivot) {
    std::string text =
        fmt::format("{} of {}\n", pivot.shows == "median" ? "median makespan" : pivot.shows, comparison.name);
    for (const results::Group& group : comparison.groups) {
        std::string heading;
        for (std::size_t i = 0; i < group.values.size(); ++i)
            heading += fmt::format("{}{} {}", i == 0 ? "" : ", ", comparison.group_keys[i], group.values[i]);
        text +=
            "\n" + (heading.empty() ? "" : heading + "\n") +
            matrix(group, place(comparison.keys, pivot.rows), place(comparison.keys, pivot.columns), pivot);
    }
    return text + fmt::format(
                      "\n* the least median of its matrix. ~ not shown to be worse (p {} and above, or "
                      "too few runs).\n  ! some runs failed or are missing. comparison.csv has all "
                      "numbers.\n",
                      results::level);
}

}  // namespace heddle::cli
