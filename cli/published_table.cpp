// Divides the baseline's median makespan by each cell's, and prints the quotient beside the published
// speedup.
#include "cli/published_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

std::string cell_in_words(const std::vector<std::string>& keys, const configs::Combination& combination) {
    std::string words;
    for (std::size_t i = 0; i < combination.values.size(); ++i) {
        const std::string& key = keys[i];
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key.substr(key.rfind('.') + 1),
                             combination.values[i]);
    }
    return words;
}

std::string shown(const std::optional<double>& value) {
    return value ? fmt::format("{:.3g}", *value) : "-";
}

}  // namespace

std::vector<PublishedRow> published_rows(const Plan& plan, const std::vector<results::Outcome>& outcomes) {
    std::vector<PublishedRow> rows;
    const auto& published = plan.combinations.base.published;
    if (!published) return rows;
    const std::string& name = plan.combinations.base.name;
    const std::optional<double> baseline = median_makespan(plan.baseline, outcomes);
    for (std::size_t i = 0; i < plan.combinations.all.size(); ++i) {
        PublishedRow& row = rows.emplace_back();
        row.what = published->what.empty() ? name : published->what;
        row.source = published->source;
        row.cell = cell_in_words(plan.combinations.keys, plan.combinations.all[i]);
        row.published = plan.combinations.published_speedups[i];
        const std::optional<double> seconds = median_makespan(plan.runs[i], outcomes);
        if (baseline && seconds) row.found = *baseline / *seconds;
    }
    return rows;
}

std::string published_table(const std::vector<PublishedRow>& rows) {
    std::vector<std::vector<std::string>> lines = {
        {"what", "published in", "cell", "speedup", "published", "off by"}};
    const PublishedRow* before = nullptr;
    for (const PublishedRow& row : rows) {
        const bool same = before && before->what == row.what;
        lines.push_back(
            {same ? "" : row.what, same ? "" : row.source, row.cell, shown(row.found), shown(row.published),
             row.found && row.published ? fmt::format("{:+.0f}%", 100 * (*row.found / *row.published - 1))
                                        : ""});
        before = &row;
    }
    return columns(lines, 3);
}

std::string published_json(const std::vector<PublishedRow>& rows) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    for (const PublishedRow& row : rows)
        list.push_back({{"what", row.what},
                        {"source", row.source},
                        {"cell", row.cell},
                        {"speedup", number(row.found)},
                        {"published", number(row.published)}});
    return list.dump();
}

}  // namespace heddle::cli
