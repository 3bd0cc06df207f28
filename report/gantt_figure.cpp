// Draws a recorded run over time: a bar for each task. For many tasks, and for those that wait in the middle,
// it draws a heat map of the share of time in user work.
#include "report/gantt_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/words.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::report {

namespace {

constexpr std::size_t tasks_max = 2000;
constexpr std::size_t lines_max = 64;
constexpr std::size_t bins = 120;
constexpr std::size_t bands_max = 50;

Value exact(Time time) {
    Value value = seconds_value(to_seconds(time));
    value.exact = results::exact_seconds(time);
    return value;
}

bool can_be_drawn(const Recorded& recorded) {
    return recorded.tasks.size() <= tasks_max && recorded.workers.size() <= lines_max;
}

/// Whether some task waits, so that its worker has not run it from its start to its end: a strand, or a task
/// that overlaps another one of its worker, where neither is within the other.
bool tasks_wait(const Recorded& recorded) {
    const auto is_strand = [](const RecordedTask& task) { return task.kernel == "strand"; };
    if (std::ranges::any_of(recorded.tasks, is_strand)) return true;
    for (const RecordedWorker& worker : recorded.workers) {
        std::vector<std::pair<Time, Time>> tasks;  // start and end, the longest of one start first
        for (const std::size_t i : worker.tasks_begun)
            tasks.emplace_back(recorded.tasks[i].start, recorded.tasks[i].end);
        std::ranges::sort(tasks, [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : a.second > b.second;
        });
        std::vector<Time> open;  // ends of tasks, each within the one before
        for (const auto& [start, end] : tasks) {
            while (!open.empty() && open.back() <= start) open.pop_back();
            if (!open.empty() && end > open.back()) return true;
            open.push_back(end);
        }
    }
    return false;
}

/// Kernels with the most tasks first; those beyond the colours share the last one.
std::vector<std::string> kernels_of(const Recorded& recorded) {
    std::map<std::string, std::size_t> counts;
    for (const RecordedTask& task : recorded.tasks) ++counts[task.kernel];
    std::vector<std::string> kernels;
    for (const auto& [kernel, count] : counts) kernels.push_back(kernel);
    std::stable_sort(kernels.begin(), kernels.end(),
                     [&counts](const auto& a, const auto& b) { return counts[a] > counts[b]; });
    return kernels;
}

void add_bars(Page& page, const Recorded& recorded) {
    const std::vector<std::string> kernels = kernels_of(recorded);
    const std::size_t named = std::min(kernels.size(), line_colours.size());
    Figure figure;
    figure.id = "gantt";
    figure.height = 110 + std::max(14, 30 - static_cast<int>(recorded.workers.size()) / 4) *
                              static_cast<int>(recorded.workers.size());
    figure.caption = "Each task on its worker, from start to end, by kernel. Point at one to see its name.";
    for (std::size_t k = 0; k < named; ++k)
        figure.traces.push_back(
            {{"type", "bar"},
             {"orientation", "h"},
             {"name", k + 1 == named && kernels.size() > named ? "others" : figure_label(kernels[k])},
             {"base", Json::array()},
             {"x", Json::array()},
             {"y", Json::array()},
             {"text", Json::array()},
             {"textposition", "none"},
             {"marker", {{"color", line_colours[k]}, {"line", {{"width", 0.5}, {"color", "#fff"}}}}},
             {"hovertemplate", "%{text}<br>%{y}: %{base:.4s}s, for %{x:.3s}s<extra></extra>"}});
    HtmlTable table("gantt-tasks", "The tasks.",
                    {"task", "kernel", "worker", "ready", "start", "end", "stolen"},
                    {"name", "kernel", "worker", "ready_seconds", "start_seconds", "end_seconds", "stolen"});
    for (const RecordedTask& task : recorded.tasks) {
        const auto place = std::find(kernels.begin(), kernels.end(), task.kernel);
        Json& trace = figure.traces[std::min(static_cast<std::size_t>(place - kernels.begin()), named - 1)];
        const std::string label = !task.name.empty() ? task.name
                                  : task.number      ? fmt::format("{} {}", task.kernel, *task.number)
                                                     : task.kernel;
        trace["base"].push_back(to_seconds(task.start));
        trace["x"].push_back(to_seconds(task.end - task.start));
        trace["y"].push_back(recorded.workers[task.worker].name());
        trace["text"].push_back(figure_label(label));
        table.add({text_value(label), text_value(task.kernel),
                   text_value(recorded.workers[task.worker].name()),
                   task.ready == never ? no_value() : exact(task.ready), exact(task.start), exact(task.end),
                   text_value(task.stolen ? "yes" : "")});
    }
    Json order = Json::array();
    for (const RecordedWorker& worker : recorded.workers) order.push_back(worker.name());
    figure.layout = {{"barmode", "overlay"},
                     {"bargap", 0.2},
                     {"xaxis",
                      {{"title", "time"},
                       {"tickformat", "~s"},
                       {"ticksuffix", "s"},
                       {"range", {0, to_seconds(recorded.makespan)}}}},
                     {"yaxis",
                      {{"type", "category"},
                       {"categoryorder", "array"},
                       {"categoryarray", order},
                       {"autorange", "reversed"}}}};
    page.figure(figure);
    page.table(table);
}

void add_bands(Page& page, const Recorded& recorded) {
    const WorkerRows rows = rows_of(recorded, bands_max);
    std::vector<std::vector<double>> working(rows.rows, std::vector<double>(bins));
    const double width = to_seconds(recorded.makespan) / static_cast<double>(bins);
    for (std::size_t w = 0; w < recorded.workers.size(); ++w) {
        for (const Stay& stay : recorded.workers[w].stays) {
            if (stay.activity != Activity::working || width <= 0) continue;
            const double begin = to_seconds(stay.begin) / width, end = to_seconds(stay.end) / width;
            for (auto bin = static_cast<std::size_t>(begin); bin < bins && static_cast<double>(bin) < end;
                 ++bin) {
                const auto left = static_cast<double>(bin);
                working[w / rows.together][bin] += std::min(end, left + 1) - std::max(begin, left);
            }
        }
    }
    Figure figure;
    figure.id = "gantt";
    figure.height = 480;
    figure.caption = fmt::format(
        "Share of time in user work: {} of the makespan, {}. Light is idle.",
        counted_things(bins, "equal part"),
        rows.together > 1 ? fmt::format("{} workers in a row", rows.together) : "a row for each worker");
    if (!recorded.tasks.empty() && !can_be_drawn(recorded))
        figure.caption += fmt::format(" {} on {} would be too many to draw one by one.",
                                      counted_things(recorded.tasks.size(), "task"),
                                      counted_things(recorded.workers.size(), "worker"));
    else if (!recorded.tasks.empty())
        figure.caption +=
            " Tasks are not drawn one by one, because some wait while their worker runs others.";
    HtmlTable table("gantt-shares", "The same as numbers.", {"workers", "from", "to", "share at work"},
                    {"workers", "start_seconds", "end_seconds", "working_share"});
    Json z = Json::array(), x = Json::array(), y = Json::array();
    for (std::size_t bin = 0; bin < bins; ++bin) x.push_back((static_cast<double>(bin) + 0.5) * width);
    for (std::size_t row = 0; row < rows.rows; ++row) {
        const std::size_t count = std::min(rows.together, recorded.workers.size() - row * rows.together);
        y.push_back(rows.name(recorded, row));
        Json line = Json::array();
        for (std::size_t bin = 0; bin < bins; ++bin) {
            const double share = std::round(1000 * working[row][bin] / static_cast<double>(count)) / 1000;
            line.push_back(share);
            table.add({text_value(rows.name(recorded, row)), seconds_value(static_cast<double>(bin) * width),
                       seconds_value(static_cast<double>(bin + 1) * width), decimal_value(share, 3)});
        }
        z.push_back(std::move(line));
    }
    figure.traces.push_back({{"type", "heatmap"},
                             {"x", x},
                             {"y", y},
                             {"z", z},
                             {"zmin", 0},
                             {"zmax", 1},
                             {"colorscale", Json::array({{0, "#f4f6f8"}, {0.5, "#56a0d3"}, {1, "#08306b"}})},
                             {"colorbar", {{"tickformat", ".0%"}, {"thickness", 12}, {"outlinewidth", 0}}},
                             {"hovertemplate", "%{y}<br>%{x:.4s}s: %{z:.1%} at work<extra></extra>"}});
    figure.layout = {
        {"xaxis", {{"title", "time"}, {"tickformat", "~s"}, {"ticksuffix", "s"}, {"showgrid", false}}},
        {"yaxis", {{"type", "category"}, {"autorange", "reversed"}, {"showgrid", false}, {"nticks", 12}}}};
    page.figure(figure);
    page.table(table);
}

}  // namespace

WorkerRows rows_of(const Recorded& recorded, std::size_t rows_max) {
    const std::size_t workers = recorded.workers.size();
    const std::size_t together = std::max<std::size_t>(1, (workers + rows_max - 1) / rows_max);
    return {together, (workers + together - 1) / together};
}

std::string WorkerRows::name(const Recorded& recorded, std::size_t row) const {
    const RecordedWorker& first = recorded.workers[row * together];
    if (together == 1) return first.name();
    const RecordedWorker& last =
        recorded.workers[std::min((row + 1) * together, recorded.workers.size()) - 1];
    return fmt::format("{}.{}–{}.{}", first.node, first.worker, last.node, last.worker);
}

void add_gantt(Page& page, const Recorded& recorded) {
    page.subtitle("Over time");
    if (!recorded.tasks.empty() && can_be_drawn(recorded) && !tasks_wait(recorded))
        add_bars(page, recorded);
    else
        add_bands(page, recorded);
}

}  // namespace heddle::report
