// Writes the report's section of steals: which node took tasks from which, at what distance, and where
// stealing never fired.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/sections.hpp"
#include "report/words.hpp"

namespace heddle::report {

namespace {

constexpr std::size_t matrix_rows_max = 64;

/// The run with the median makespan, of an entry's right runs.
const Run* median_run(const Subject& subject, const Entry& entry) {
    std::vector<const Run*> runs;
    for (const std::size_t i : subject.combination_of(entry).runs)
        if (subject.runs.all[i].ok()) runs.push_back(&subject.runs.all[i]);
    if (runs.empty()) return nullptr;
    std::stable_sort(runs.begin(), runs.end(), [](const Run* a, const Run* b) {
        return a->number("makespan_seconds") < b->number("makespan_seconds");
    });
    return runs[(runs.size() - 1) / 2];
}

bool steals_are_wanted(const Run& run) {
    const std::string& victim = run.value("schedule_stealing_victim");
    return !victim.empty() && victim != "none";
}

void say_where_nothing_fired(Page& page, const Subject& subject) {
    std::vector<std::string> silent, off;
    std::size_t all = 0;
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            const Run* const run = median_run(subject, entry);
            if (!run) continue;
            ++all;
            const bool none =
                counted(entry, "steals_within_node") + counted(entry, "steals_between_nodes") == 0;
            if (!steals_are_wanted(*run))
                off.push_back(group.name_of(entry));
            else if (none)
                silent.push_back(group.name_of(entry));
        }
    }
    const auto named = [](const std::vector<std::string>& names) {
        return names.size() == 1 && names.front().empty() ? std::string()
                                                          : ": " + escaped(list_in_words(names, 8));
    };
    if (!off.empty())
        page.paragraph(
            off.size() == all
                ? "Stealing between nodes was switched off in all runs."
                : fmt::format("Stealing between nodes was switched off in {} of {} combinations{}.",
                              off.size(), all, named(off)));
    if (!silent.empty())
        page.paragraph(
            fmt::format("Stealing was allowed, but <strong>never fired</strong>{}.", named(silent)));
}

/// Rows and columns of at most matrix_rows_max nodes each, or of equally many consecutive nodes.
void add_matrix(Page& page, const Run& run, const std::string& name) {
    const auto nodes = static_cast<std::size_t>(run.number("nodes"));
    const std::size_t together = (nodes + matrix_rows_max - 1) / matrix_rows_max;
    const std::size_t size = together == 0 ? 0 : (nodes + together - 1) / together;
    std::vector<std::vector<std::uint64_t>> matrix(size, std::vector<std::uint64_t>(size));
    for (const StealCount& count : run.steals) {
        if (count.thief >= nodes || count.victim >= nodes) continue;
        matrix[count.thief / together][count.victim / together] += count.tasks;
    }
    Figure figure;
    figure.id = "steal-matrix";
    figure.height = 480;
    figure.caption =
        fmt::format("Tasks stolen between nodes by {}: thieves are rows, victims columns{}.", name,
                    together > 1 ? fmt::format("; each is {} consecutive nodes", together) : "");
    Json z = Json::array();
    for (const auto& row : matrix) z.push_back(row);
    const std::string label = together > 1 ? fmt::format(", in {}s of nodes", together) : "";
    figure.traces.push_back(
        {{"type", "heatmap"},
         {"z", z},
         {"colorscale", Json::array({{0, "#f4f6f8"}, {0.5, "#56a0d3"}, {1, "#08306b"}})},
         {"colorbar", {{"title", {{"text", "tasks"}}}, {"thickness", 12}, {"outlinewidth", 0}}},
         {"hovertemplate", "thief %{y}, victim %{x}: %{z} tasks<extra></extra>"}});
    figure.layout = {{"xaxis", {{"title", "victim" + label}, {"constrain", "domain"}, {"showgrid", false}}},
                     {"yaxis", {{"title", "thief" + label}, {"autorange", "reversed"}, {"showgrid", false}}}};
    page.figure(figure);
    HtmlTable table("steal-matrix-table", "The same as a list, without zeros.", {"thief", "victim", "tasks"},
                    {"thief", "victim", "tasks"});
    for (std::size_t thief = 0; thief < size; ++thief) {
        for (std::size_t victim = 0; victim < size; ++victim) {
            if (matrix[thief][victim] > 0)
                table.add({number_value(std::to_string(thief)), number_value(std::to_string(victim)),
                           number_value(std::to_string(matrix[thief][victim]))});
        }
    }
    page.table(table);
}

/// Steals by level: within the node, within the group, between groups; each with the tasks that an attempt
/// brought on average. Attempts are known in total only.
void add_distances(Page& page, const Subject& subject) {
    const std::vector<std::string> levels = {"within the node", "to a node of the group", "to another group"};
    HtmlTable table("steal-distances", "Tasks stolen by distance, and attempts: medians over the runs.",
                    {"combination", levels[0], levels[1], levels[2], "attempts", "tasks for each attempt"},
                    {"combination", "steals_within_node", "steals_within_group", "steals_between_groups",
                     "steal_attempts", "tasks_for_each_attempt"});
    Figure figure;
    figure.id = "steal-distance-figure";
    figure.caption =
        "Tasks stolen by distance. Groups are those of the network; a network without groups has one.";
    for (std::size_t i = 0; i < levels.size(); ++i)
        figure.traces.push_back({{"type", "bar"},
                                 {"orientation", "h"},
                                 {"name", levels[i]},
                                 {"x", Json::array()},
                                 {"y", Json::array()},
                                 {"marker", {{"color", line_colours[i]}}},
                                 {"hovertemplate", "%{y}<br>%{fullData.name}: %{x:,} tasks<extra></extra>"}});
    constexpr std::size_t distance_bars_max = 30;
    for (const Competition& group : subject.findings.groups) {
        for (const Entry& entry : group.entries) {
            const double within = counted(entry, "steals_within_node");
            const double between = counted(entry, "steals_between_nodes");
            const double far = counted(entry, "steals_between_groups");
            const double attempts = counted(entry, "steal_attempts");
            if (within + between == 0) continue;
            const std::vector<double> counts = {within, std::max(0.0, between - far), far};
            std::vector<Value> row = {text_value(group.name_of(entry))};
            for (const double count : counts) row.push_back(decimal_value(count, 0));
            row.push_back(decimal_value(attempts, 0));
            row.push_back(attempts > 0 ? decimal_value((within + between) / attempts, 3) : no_value());
            if (table.rows() < distance_bars_max) {
                for (std::size_t i = 0; i < counts.size(); ++i) {
                    figure.traces[i]["x"].push_back(counts[i]);
                    figure.traces[i]["y"].push_back(figure_label(group.name_of(entry)));
                }
            }
            table.add(std::move(row));
        }
    }
    if (table.rows() == 0) return;
    figure.height = 110 + 28 * static_cast<int>(std::min(table.rows(), distance_bars_max));
    figure.layout = {{"barmode", "stack"},
                     {"xaxis", {{"title", "tasks"}, {"tickformat", "~s"}}},
                     {"yaxis", {{"type", "category"}, {"autorange", "reversed"}}}};
    page.figure(figure);
    page.table(table);
}

}  // namespace

void add_steals(Page& page, const Subject& subject) {
    if (subject.findings.groups.empty()) return;
    const Run* chosen = nullptr;
    std::string name;
    // The fastest combination that steals, of the last group that has one: mostly the largest machine.
    for (const Competition& group : subject.findings.groups) {
        double least = 0;
        for (const Entry& entry : group.entries) {
            const Run* const run = median_run(subject, entry);
            if (!run || run->steals.empty()) continue;
            if (least != 0 && entry.line.median_seconds >= least) continue;
            least = entry.line.median_seconds;
            chosen = run;
            name = group.name_of(entry);
        }
    }
    page.section("stealing", "Stealing");
    say_where_nothing_fired(page, subject);
    add_distances(page, subject);
    if (chosen)
        add_matrix(
            page, *chosen,
            fmt::format("{}, seed {}", name.empty() ? chosen->value("name") : name, chosen->value("seed")));
    else
        page.paragraph("No task was stolen between nodes.");
}

}  // namespace heddle::report
