// Writes the report's comparison tables, one for each group of competing combinations: medians, intervals,
// ratios, letters of significance, and counters.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

/// Groups that have a table of their own; beyond, all are in one table.
constexpr std::size_t own_tables_max = 6;

Value or_dash(const std::optional<double>& seconds) {
    return seconds ? seconds_value(*seconds) : no_value();
}

HtmlTable empty_table(const Subject& subject, const std::string& name, const std::string& caption,
                      bool with_common) {
    std::vector<std::string> titles, fields;
    const auto add = [&](std::string title, std::string field) {
        titles.push_back(std::move(title));
        fields.push_back(std::move(field));
    };
    const auto add_factor = [&](std::size_t i) {
        add(subject.design.factors[i].key, subject.design.factors[i].column);
    };
    if (with_common)
        std::for_each(subject.findings.common.begin(), subject.findings.common.end(), add_factor);
    std::for_each(subject.findings.competing.begin(), subject.findings.competing.end(), add_factor);
    add("runs", "runs");
    add("median", "median_seconds");
    add("from", "low_seconds");
    add("to", "high_seconds");
    if (subject.design.combinations.size() > 1) {
        add("ratio", "ratio");
        add("letter", "letters");
        add("against the best", "standing");
    }
    add("bound", "lower_bound_seconds");
    return HtmlTable(name, caption, std::move(titles), std::move(fields));
}

void add_row(HtmlTable& table, const Subject& subject, const Entry& entry, bool with_common) {
    std::vector<Value> row;
    const Combination& combination = subject.combination_of(entry);
    const auto add_factor = [&](std::size_t i) {
        const Factor& factor = subject.design.factors[i];
        row.push_back({factor.shown(combination.values[i]), combination.values[i], factor.is_number});
    };
    if (with_common)
        std::for_each(subject.findings.common.begin(), subject.findings.common.end(), add_factor);
    std::for_each(subject.findings.competing.begin(), subject.findings.competing.end(), add_factor);
    const results::Line& line = entry.line;
    const bool any = line.runs > 0;
    row.push_back(number_value(std::to_string(line.runs)));
    row.push_back(any ? seconds_value(line.median_seconds) : no_value());
    row.push_back(line.interval_seconds ? seconds_value(line.interval_seconds->low) : no_value());
    row.push_back(line.interval_seconds ? seconds_value(line.interval_seconds->high) : no_value());
    if (subject.design.combinations.size() > 1) {
        row.push_back(line.ratio ? decimal_value(*line.ratio, 3) : no_value());
        row.push_back(text_value(entry.letters));
        row.push_back({results::standing_in_words(line), results::name(line.standing), false});
    }
    row.push_back(or_dash(line.lower_bound_seconds));
    table.add(std::move(row));
}

void add_counts(Page& page, const Subject& subject) {
    std::vector<std::string> titles, fields;
    for (const Factor& factor : subject.design.factors) {
        titles.push_back(factor.key);
        fields.push_back(factor.column);
    }
    constexpr std::array counts = {std::pair{"tasks", "tasks"},
                                   std::pair{"stolen within nodes", "steals_within_node"},
                                   std::pair{"between nodes", "steals_between_nodes"},
                                   std::pair{"attempts", "steal_attempts"},
                                   std::pair{"messages", "messages"},
                                   std::pair{"bytes", "bytes"}};
    for (const auto& [title, field] : counts) {
        titles.emplace_back(title);
        fields.emplace_back(field);
    }
    HtmlTable table("counts", "What was counted: medians over the runs of each combination.", titles, fields);
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            std::vector<Value> row;
            for (std::size_t i = 0; i < subject.design.factors.size(); ++i) {
                const Factor& factor = subject.design.factors[i];
                const std::string& value = subject.combination_of(entry).values[i];
                row.push_back({factor.shown(value), value, factor.is_number});
            }
            for (const auto& [title, field] : counts) {
                const double number = counted(entry, field);
                const bool is_bytes = std::string_view(field) == "bytes";
                Value value = count_value(number);
                if (is_bytes) value.shown = show_bytes(number);
                row.push_back(entry.line.runs > 0 ? value : no_value());
            }
            table.add(std::move(row));
        }
    }
    page.table(table);
}

/// A dot for each combination of a group, with its interval.
Figure dots_of(const Competition& group, const std::string& id) {
    Figure figure;
    figure.id = id;
    figure.caption = fmt::format("Median makespan{}{}, with its 95% interval. To the left is better.",
                                 group.name.empty() ? "" : " at ", group.name);
    Json trace = {{"type", "scatter"},   {"mode", "markers"},
                  {"x", Json::array()},  {"y", Json::array()},
                  {"showlegend", false}, {"marker", {{"size", 9}, {"color", line_colours[0]}}}};
    Json plus = Json::array(), minus = Json::array();
    double bound = 0;
    for (auto entry = group.entries.rbegin(); entry != group.entries.rend(); ++entry) {
        const results::Line& line = entry->line;
        if (line.runs == 0) continue;
        trace["x"].push_back(line.median_seconds);
        trace["y"].push_back(figure_label(entry->competitor));
        const results::Interval around =
            line.interval_seconds.value_or(results::Interval{line.median_seconds, line.median_seconds});
        plus.push_back(around.high - line.median_seconds);
        minus.push_back(line.median_seconds - around.low);
        // Combinations on different machines have no bound in common.
        const double own = line.lower_bound_seconds.value_or(-1);
        bound = bound == 0 || bound == own ? own : -1;
    }
    trace["error_x"] = {{"type", "data"},      {"symmetric", false}, {"array", plus},
                        {"arrayminus", minus}, {"thickness", 1.5},   {"color", line_colours[0]}};
    trace["hovertemplate"] = "%{y}: %{x:.4s}s<extra></extra>";
    figure.height = 90 + 30 * static_cast<int>(trace["x"].size());
    figure.layout = {
        {"xaxis",
         {{"title", "makespan"}, {"tickformat", "~s"}, {"ticksuffix", "s"}, {"rangemode", "tozero"}}},
        {"yaxis", {{"type", "category"}}}};
    if (bound > 0) {
        figure.layout["shapes"] = Json::array({{{"type", "line"},
                                                {"x0", bound},
                                                {"x1", bound},
                                                {"y0", 0},
                                                {"y1", 1},
                                                {"yref", "paper"},
                                                {"line", {{"color", "#5a6570"}, {"dash", "dot"}}}}});
        figure.caption += " The dotted line is the lower bound.";
    }
    figure.traces.push_back(std::move(trace));
    return figure;
}

}  // namespace

void add_comparison(Page& page, const Subject& subject) {
    if (subject.design.combinations.empty()) return;
    const bool several = subject.design.combinations.size() > 1;
    page.section("comparison", several ? "Which is fastest" : "The result");
    if (several)
        page.paragraph(
            "Each group has the combinations that compete. The interval is the median's, with 95% "
            "confidence. Fewer than six runs have none. "
            "Combinations that share a letter do not differ significantly (Mann and Whitney's test of all "
            "pairs, "
            "Holm's correction, level 0.05); without letters there are too few runs for a test, or more than "
            "40 "
            "combinations. The bound is what no schedule of this work on this machine can fall below.");
    const bool own_tables = subject.findings.groups.size() <= own_tables_max;
    HtmlTable all = empty_table(subject, "comparison", "All groups.", true);
    for (std::size_t i = 0; i < subject.findings.groups.size(); ++i) {
        const Competition& group = subject.findings.groups[i];
        HtmlTable table = empty_table(subject, fmt::format("comparison-{}", i + 1),
                                      group.name.empty() ? "Makespans." : group.name + ".", false);
        for (const Entry& entry : group.entries)
            add_row(own_tables ? table : all, subject, entry, !own_tables);
        if (!own_tables) continue;
        if (!group.name.empty()) page.subtitle(group.name);
        constexpr std::size_t dots_max = 40;
        if (group.entries.size() > 1 && group.entries.size() <= dots_max && group.winner())
            page.figure(dots_of(group, fmt::format("dots-{}", i + 1)));
        page.table(table);
    }
    if (!own_tables) page.table(all);
    add_counts(page, subject);
}

}  // namespace heddle::report
