// Computes speedups and improvements from the cells' median makespans, and prints them and the makespans
// beside the published ones.
#include "cli/published_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/assert.hpp"
#include "cli/text_table.hpp"
#include "results/statistics.hpp"

namespace heddle::cli {

namespace {

std::optional<double> median_makespan(const std::vector<std::size_t>& cells,
                                      const std::vector<results::Outcome>& outcomes) {
    std::vector<double> seconds;
    for (const std::size_t cell : cells)
        if (outcomes[cell].state == results::Outcome::State::right)
            seconds.push_back(outcomes[cell].makespan_seconds);
    if (seconds.empty()) return std::nullopt;
    return results::median(seconds);
}

void add_value(std::string& words, const std::string& key, const std::string& value) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key.substr(key.rfind('.') + 1), value);
}

std::string cell_in_words(const std::vector<std::string>& keys, const configs::Combination& combination) {
    std::string words;
    for (std::size_t i = 0; i < combination.values.size(); ++i)
        add_value(words, keys[i], combination.values[i]);
    return words;
}

/// What the other cell has in place of this one's values.
std::string differences_in_words(const configs::Combinations& combinations, std::size_t cell,
                                 std::size_t other) {
    std::string words;
    const std::vector<std::string>& own = combinations.all[cell].values;
    const std::vector<std::string>& others = combinations.all[other].values;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != others[i]) add_value(words, combinations.keys[i], others[i]);
    return words;
}

/// What the baseline has of a compared key: the file's own value, which is not one of the compared ones.
std::string own_value(const std::string& key, const nlohmann::ordered_json& resolved) {
    std::string pointer = "/" + key;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const nlohmann::ordered_json::json_pointer place(pointer);
    if (!resolved.contains(place)) return "unset";
    const nlohmann::ordered_json& value = resolved.at(place);
    if (value.is_structured()) return "as in the file";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The values that the baseline states, and those that it has of the other compared keys.
std::string baseline_in_words(const configs::Combinations& combinations) {
    const std::vector<configs::Value>& stated = combinations.base.published->baseline;
    std::string words;
    for (const configs::Value& value : stated) add_value(words, value.key, configs::for_people(value));
    const auto resolved =
        nlohmann::ordered_json::parse(configs::resolved_json(combinations.baseline->experiment));
    for (const std::string& key : combinations.keys)
        if (std::ranges::find(stated, key, &configs::Value::key) == stated.end())
            add_value(words, key, own_value(key, resolved));
    return words;
}

using Measure = PublishedRow::Measure;

const char* name(Measure measure) {
    switch (measure) {
        case Measure::speedup:
            return "speedup";
        case Measure::seconds:
            return "seconds";
        case Measure::improvement:
            return "improvement";
    }
    HEDDLE_ASSERT(false);
}

/// How far the found number is from the published one, in percent of it. Of improvements, which are
/// percentages, in points.
std::optional<double> difference(const PublishedRow& row) {
    if (!row.found || !row.published) return std::nullopt;
    if (row.measure == Measure::improvement) return *row.found - *row.published;
    return 100 * (*row.found / *row.published - 1);
}

std::string shown(const std::optional<double>& value, Measure measure) {
    if (!value) return "-";
    return measure == Measure::improvement ? fmt::format("{:.1f}%", *value) : fmt::format("{:.3g}", *value);
}

std::string difference_shown(const PublishedRow& row) {
    const std::optional<double> off = difference(row);
    if (!off) return "";
    switch (row.measure) {
        case Measure::speedup:
            return fmt::format("{:+.0f}%", *off);
        case Measure::seconds:
            return fmt::format("{:+.1f}%", *off);
        case Measure::improvement:
            return fmt::format("{:+.1f} points", *off);
    }
    HEDDLE_ASSERT(false);
}

/// The rows of one measure. Empty if there are none.
std::string table_of(Measure measure, const std::vector<PublishedRow>& rows) {
    std::vector<std::vector<std::string>> lines = {
        {"what", "published in", "cell", name(measure), "published", "off by"}};
    const PublishedRow* before = nullptr;
    std::string baselines;
    for (const PublishedRow& row : rows) {
        if (row.measure != measure) continue;
        const bool same = before && before->what == row.what;
        lines.push_back(
            {same ? "" : row.what, same ? "" : row.source,
             measure == Measure::improvement ? fmt::format("{} over {}", row.cell, row.over) : row.cell,
             shown(row.found, measure), shown(row.published, measure), difference_shown(row)});
        if (measure == Measure::speedup && !(same && before->over == row.over))
            baselines += fmt::format("{}: speedup over {}\n", row.what, row.over);
        before = &row;
    }
    return before ? columns(lines, 3) + baselines : std::string();
}

}  // namespace

std::vector<PublishedRow> published_rows(const Plan& plan, const std::vector<results::Outcome>& outcomes) {
    std::vector<PublishedRow> rows;
    const configs::Combinations& combinations = plan.combinations;
    const auto& published = combinations.base.published;
    if (!published) return rows;
    const auto seconds_of = [&](std::size_t cell) { return median_makespan(plan.runs[cell], outcomes); };
    const auto add = [&](Measure measure, std::size_t cell) -> PublishedRow& {
        PublishedRow& row = rows.emplace_back();
        row.what = published->what.empty() ? combinations.base.name : published->what;
        row.source = published->source;
        row.cell = cell_in_words(combinations.keys, combinations.all[cell]);
        row.measure = measure;
        return row;
    };
    if (combinations.baseline) {
        const std::optional<double> baseline = median_makespan(plan.baseline, outcomes);
        const std::string over = baseline_in_words(combinations);
        for (std::size_t cell = 0; cell < combinations.all.size(); ++cell) {
            PublishedRow& row = add(Measure::speedup, cell);
            row.over = over;
            row.published = combinations.published_speedups[cell];
            const std::optional<double> seconds = seconds_of(cell);
            if (baseline && seconds) row.found = *baseline / *seconds;
        }
    }
    for (const auto& [cell, other, value] : combinations.published_seconds) {
        PublishedRow& row = add(Measure::seconds, cell);
        row.published = value;
        row.found = seconds_of(cell);
    }
    for (const auto& [cell, other, value] : combinations.published_improvements) {
        PublishedRow& row = add(Measure::improvement, cell);
        row.over = differences_in_words(combinations, cell, other);
        row.published = value;
        const std::optional<double> seconds = seconds_of(cell);
        const std::optional<double> longer = seconds_of(other);
        if (seconds && longer) row.found = 100 * (1 - *seconds / *longer);
    }
    return rows;
}

std::string published_table(const std::vector<PublishedRow>& rows) {
    std::string tables;
    for (const Measure measure : {Measure::speedup, Measure::seconds, Measure::improvement}) {
        const std::string table = table_of(measure, rows);
        if (!table.empty()) tables += (tables.empty() ? "" : "\n") + table;
    }
    return tables;
}

std::string published_json(const std::vector<PublishedRow>& rows) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    for (const PublishedRow& row : rows) {
        const bool improvement = row.measure == Measure::improvement;
        Json object = {{"what", row.what}, {"source", row.source}, {"cell", row.cell}};
        if (!row.over.empty()) object["over"] = row.over;
        object[improvement ? "improvement_percent" : name(row.measure)] = number(row.found);
        object["published"] = number(row.published);
        object[improvement ? "difference_points" : "difference_percent"] = number(difference(row));
        list.push_back(std::move(object));
    }
    return list.dump();
}

}  // namespace heddle::cli
