// Prints the matrix of a comparison with two keys, and marks the best value and those that may equal it.
#include "cli/pivot_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Rows or columns: a key, and the keys whose values follow from its values.
class Side {
public:
    Side(const results::Comparison& comparison, const std::string& key)
        : keys_(comparison.keys), places_{place(comparison.keys, key)} {}

    void add(std::size_t key) { places_.push_back(key); }

    /// Whether lines that are alike in the key are alike in `other`, too.
    bool decides(const results::Comparison& comparison, std::size_t other) const {
        std::map<std::string, std::string> found;
        for (const results::Group& group : comparison.groups)
            for (const Line& line : group.lines)
                if (found.try_emplace(line.values[places_[0]], line.values[other]).first->second !=
                    line.values[other])
                    return false;
        return true;
    }

    std::string title() const {
        return label([this](std::size_t key) { return keys_[key].substr(keys_[key].rfind('.') + 1); });
    }
    std::string label_of(const Line& line) const {
        return label([&line](std::size_t key) { return line.values[key]; });
    }
    std::vector<std::string> labels_in(const results::Group& group) const {
        std::vector<std::string> labels;
        for (const Line& line : group.lines)
            if (place(labels, label_of(line)) == labels.size()) labels.push_back(label_of(line));
        return labels;
    }

private:
    /// `4 (400)`.
    template <typename Text>
    std::string label(Text text) const {
        std::string more;
        for (std::size_t i = 1; i < places_.size(); ++i) more += (i == 1 ? " (" : ", ") + text(places_[i]);
        return text(places_[0]) + (more.empty() ? "" : more + ")");
    }

    const std::vector<std::string>& keys_;
    std::vector<std::size_t> places_;
};

std::string matrix(const results::Group& group, const Side& down, const Side& across,
                   const std::string& shows) {
    const std::vector<std::string> row_labels = down.labels_in(group);
    const std::vector<std::string> column_labels = across.labels_in(group);
    std::vector<std::vector<std::string>> rows(row_labels.size() + 1,
                                               std::vector<std::string>(column_labels.size() + 1));
    rows[0][0] = fmt::format("{} \\ {}", down.title(), across.title());
    for (std::size_t i = 0; i < row_labels.size(); ++i) rows[i + 1][0] = row_labels[i];
    for (std::size_t i = 0; i < column_labels.size(); ++i) rows[0][i + 1] = column_labels[i] + " ";
    for (const Line& line : group.lines)
        rows[1 + place(row_labels, down.label_of(line))][1 + place(column_labels, across.label_of(line))] =
            text_of(line, shows);
    return columns(rows, 1);
}

}  // namespace

std::string pivot_table(const results::Comparison& comparison, const configs::Pivot& pivot) {
    Side down(comparison, pivot.rows);
    Side across(comparison, pivot.columns);
    for (std::size_t key = 0; key < comparison.keys.size(); ++key) {
        if (comparison.keys[key] == pivot.rows || comparison.keys[key] == pivot.columns) continue;
        (across.decides(comparison, key) ? across : down).add(key);
    }
    std::string text =
        fmt::format("{} of {}\n", pivot.shows == "median" ? "median makespan" : pivot.shows, comparison.name);
    for (const results::Group& group : comparison.groups) {
        std::string heading;
        for (std::size_t i = 0; i < group.values.size(); ++i)
            heading += fmt::format("{}{} {}", i == 0 ? "" : ", ", comparison.group_keys[i], group.values[i]);
        text += "\n" + (heading.empty() ? "" : heading + "\n") + matrix(group, down, across, pivot.shows);
    }
    return text + fmt::format(
                      "\n* the least median of its matrix. ~ not shown to be worse (p {} and above, or "
                      "too few runs).\n  ! some runs failed or are missing. comparison.csv has all "
                      "numbers.\n",
                      results::level);
}

}  // namespace heddle::cli
