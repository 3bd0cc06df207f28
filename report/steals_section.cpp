// Writes the report's section of steals: which node took tasks from which, at what distance, and where
// stealing never fired.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

/// Which row and column of the matrix each node is in, and what these are.
struct Axis {
    std::vector<std::size_t> of_node;
    std::size_t size = 0;
    std::string unit;     ///< for the axes' titles
    std::string caption;  ///< a sentence's end
};

/// At most matrix_rows_max rows: nodes, else groups of the network, else consecutive nodes.
Axis axis_of(const Run& run) {
    const auto nodes = static_cast<std::size_t>(run.number("nodes"));
    Axis axis;
    axis.of_node.resize(nodes);
    if (nodes > matrix_rows_max && !run.groups.empty()) {
        const std::size_t groups = 1 + *std::max_element(run.groups.begin(), run.groups.end());
        if (groups <= matrix_rows_max) {
            axis.of_node.assign(run.groups.begin(), run.groups.end());
            axis.size = groups;
            axis.unit = ", group of the network";
            axis.caption = "; each is a group of the network, which has the steals within it too";
            return axis;
        }
    }
    const std::size_t together = std::max<std::size_t>(1, (nodes + matrix_rows_max - 1) / matrix_rows_max);
    for (std::size_t node = 0; node < nodes; ++node) axis.of_node[node] = node / together;
    axis.size = (nodes + together - 1) / together;
    if (together > 1) {
        axis.unit = fmt::format(", in {}s of nodes", together);
        axis.caption = fmt::format("; each is {} consecutive nodes", together);
    }
    return axis;
}

void add_matrix(Page& page, const Run& run, const std::string& name) {
    const Axis axis = axis_of(run);
    const std::size_t size = axis.size;
    std::vector<std::vector<std::uint64_t>> matrix(size, std::vector<std::uint64_t>(size));
    for (const StealCount& count : run.steals) {
        if (count.thief >= axis.of_node.size() || count.victim >= axis.of_node.size()) continue;
        matrix[axis.of_node[count.thief]][axis.of_node[count.victim]] += count.tasks;
    }
    Figure figure;
    figure.id = "steal-matrix";
    figure.height = 480;
    figure.caption = fmt::format("Tasks stolen between nodes by {}: thieves are rows, victims columns{}.",
                                 name, axis.caption);
    Json z = Json::array();
    for (const auto& row : matrix) z.push_back(row);
    figure.traces.push_back(
        {{"type", "heatmap"},
         {"z", z},
         {"colorscale", Json::array({{0, "#f4f6f8"}, {0.5, "#56a0d3"}, {1, "#08306b"}})},
         {"colorbar", {{"title", {{"text", "tasks"}}}, {"thickness", 12}, {"outlinewidth", 0}}},
         {"hovertemplate", "thief %{y}, victim %{x}: %{z} tasks<extra></extra>"}});
    figure.layout = {
        {"xaxis", {{"title", "victim" + axis.unit}, {"constrain", "domain"}, {"showgrid", false}}},
        {"yaxis", {{"title", "thief" + axis.unit}, {"autorange", "reversed"}, {"showgrid", false}}}};
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

/// Tasks stolen at a distance, the attempts to steal there, and how many of these brought something.
struct Level {
    double tasks;
    double attempts;
    double successes;
};

/// Within the node, within the group, between groups. Earlier versions counted attempts in total only: then
/// those to other nodes are not known, and all are zero.
std::array<Level, 3> levels_of(const Entry& entry) {
    const double within = counted(entry, "steals_within_node");
    const double between = counted(entry, "steals_between_nodes");
    const double far = counted(entry, "steals_between_groups");
    const double requests = counted(entry, "steal_requests");
    const double granted = counted(entry, "steal_requests_granted");
    const double far_requests = counted(entry, "steal_far_requests");
    const double far_granted = counted(entry, "steal_far_requests_granted");
    std::array<Level, 3> levels{{{within, counted(entry, "steal_attempts") - requests, within},
                                 {between - far, requests - far_requests, granted - far_granted},
                                 {far, far_requests, far_granted}}};
    // Medians of differences are no differences of medians.
    for (Level& level : levels) level.tasks = std::max(0.0, level.tasks);
    if (requests == 0 && between > 0)
        for (Level& level : levels) level.attempts = level.successes = 0;
    return levels;
}

/// Steals by level, each with its attempts and the share of these that succeeded.
void add_distances(Page& page, const Subject& subject) {
    const std::vector<std::string> levels = {"within the node", "to a node of the group", "to another group"};
    HtmlTable table(
        "steal-distances",
        "Tasks stolen by distance, attempts, and how many of these succeeded: medians over the "
        "runs. An attempt within the node is a look at one of its workers, else a request.",
        {"combination", "tasks " + levels[0], "attempts", "succeeded, %", "tasks " + levels[1], "attempts",
         "succeeded, %", "tasks " + levels[2], "attempts", "succeeded, %"},
        {"combination", "steals_within_node", "attempts_within_node", "success_percent_within_node",
         "steals_within_group", "attempts_within_group", "success_percent_within_group",
         "steals_between_groups", "attempts_between_groups", "success_percent_between_groups"});
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
            const std::array<Level, 3> found = levels_of(entry);
            if (found[0].tasks + found[1].tasks + found[2].tasks == 0) continue;
            std::vector<Value> row = {text_value(group.name_of(entry))};
            for (const Level& level : found) {
                row.push_back(count_value(level.tasks));
                row.push_back(level.attempts > 0 ? count_value(level.attempts) : no_value());
                row.push_back(level.attempts > 0 ? decimal_value(100 * level.successes / level.attempts, 1)
                                                 : no_value());
            }
            if (table.rows() < distance_bars_max) {
                for (std::size_t i = 0; i < found.size(); ++i) {
                    figure.traces[i]["x"].push_back(found[i].tasks);
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
