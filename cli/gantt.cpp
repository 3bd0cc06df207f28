// Draws tasks as lines of characters, in which each character is an equal share of the time.
#include "cli/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "cli/text_table.hpp"

namespace heddle::cli {

namespace {

constexpr std::size_t lines_max = 32;

/// No picture shows a part of so many of the time so far.
constexpr double parts_unseen = 1024;

/// The column of a moment. A schedule from a file may hold any times.
std::size_t column(double time, double makespan, std::size_t width) {
    const double at = std::round(time / makespan * static_cast<double>(width));
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(width)));
}

std::string text_of(const GanttLine& line, double end, std::size_t width) {
    std::string text(width, '.');
    for (const GanttBar& bar : line.bars) {
        const std::size_t from = column(bar.begin, end, width);
        const std::size_t to = std::max(from, column(bar.end, end, width));
        // Two labels side by side would read as a single one.
        const bool joined = from > 0 && std::isalnum(static_cast<unsigned char>(text[from - 1])) != 0;
        const bool fits = bar.label.size() <= to - from && !joined;
        std::string drawn(to - from, fits ? '=' : '#');
        if (fits) drawn.replace(0, bar.label.size(), bar.label);
        text.replace(from, drawn.size(), drawn);
    }
    return text;
}

}  // namespace

std::string gantt(const std::vector<GanttLine>& lines, double end, const std::string& things,
                  const std::string& empty, std::size_t width) {
    if (!(end > 0) || !std::isfinite(end)) return "nothing to draw\n";
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0, without = 0;
    for (const GanttLine& line : lines) {
        if (line.bars.empty())
            ++without;
        else if (rows.size() == lines_max)
            ++left_out;
        else
            rows.push_back({line.name, text_of(line, end, width)});
    }
    std::string text = columns(rows, 0);
    if (left_out > 0) text += fmt::format("and {} more {}\n", left_out, things);
    if (without > 0) text += fmt::format("not shown: {} {}\n", without, empty);
    return text;
}

std::string gantt(const schedulers::Schedule& schedule, std::size_t width) {
    std::vector<GanttLine> lines;
    for (schedulers::ProcessorIndex processor = 0; processor < schedule.processors(); ++processor) {
        GanttLine& line = lines.emplace_back(GanttLine{std::to_string(processor), {}});
        for (const TaskIndex task : schedule.order(processor))
            line.bars.push_back({schedule.start(task), schedule.finish(task), std::to_string(task)});
    }
    return gantt(lines, schedule.makespan(), "processors", "idle processors", width);
}

void RunGantt::begin(NodeId nodes, CoreId cores) {
    cores_ = cores;
    for (NodeId node = 0; node < nodes; ++node) {
        for (CoreId core = 0; core < cores; ++core)
            lines_.push_back({fmt::format("node {} worker {}", node, core), {}});
    }
    open_.resize(lines_.size());
}

void RunGantt::task_begins(const results::TracedTask& task) {
    task_goes_on(task, task.begin);
}

void RunGantt::task_goes_on(const results::TracedTask& task, Time time) {
    const std::size_t line = line_of(task);
    if (open_[line]++ != 0) return;
    std::vector<GanttBar>& bars = lines_[line].bars;
    const double begin = to_seconds(time);
    const std::string label = task.numbered() ? std::to_string(task.note.number) : task.kernel;
    if (time != task.begin && !bars.empty()) {
        GanttBar& last = bars.back();
        const double unseen = begin / parts_unseen;
        if (begin - last.end <= unseen && (last.label == label || last.end - last.begin <= unseen)) {
            last.label = label;
            return;
        }
    }
    bars.push_back({begin, begin, label});
}

void RunGantt::task_pauses(const results::TracedTask& task, Time time) {
    const std::size_t line = line_of(task);
    if (--open_[line] == 0) lines_[line].bars.back().end = to_seconds(time);
}

void RunGantt::task_ends(const results::TracedTask& task, const TaskWork& /*work*/, Time time) {
    task_pauses(task, time);
}

/// A task that has not ended is drawn until then.
void RunGantt::states_end(Time time) {
    end_ = time;
    for (std::size_t line = 0; line < lines_.size(); ++line)
        if (open_[line] != 0) lines_[line].bars.back().end = to_seconds(time);
}

std::string RunGantt::picture() const {
    return gantt(lines_, to_seconds(end_), "workers", "workers without a recorded task");
}

}  // namespace heddle::cli
