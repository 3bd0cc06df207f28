#include "cli/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/text_table.hpp"

namespace heddle::cli {

namespace {

constexpr std::size_t lines_max = 32;

/// Where a moment lies on the line. A schedule that is only looked at may hold any times.
std::size_t column(double time, double makespan, std::size_t width) {
    const double at = std::round(time / makespan * static_cast<double>(width));
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(width)));
}

std::string line_of(const schedulers::Schedule& schedule, schedulers::ProcessorIndex processor,
                    std::size_t width) {
    std::string line(width, '.');
    for (const TaskIndex task : schedule.order(processor)) {
        const std::size_t begin = column(schedule.start(task), schedule.makespan(), width);
        const std::size_t end = std::max(begin, column(schedule.finish(task), schedule.makespan(), width));
        const std::string number = std::to_string(task);
        std::string bar(end - begin, number.size() <= end - begin ? '=' : '#');
        if (number.size() <= bar.size()) bar.replace(0, number.size(), number);
        line.replace(begin, bar.size(), bar);
    }
    return line;
}

}  // namespace

std::string gantt(const schedulers::Schedule& schedule, std::size_t width) {
    if (!(schedule.makespan() > 0) || !std::isfinite(schedule.makespan())) return "nothing to draw\n";
    std::vector<std::vector<std::string>> rows;
    std::size_t left_out = 0, idle = 0;
    for (schedulers::ProcessorIndex processor = 0; processor < schedule.processors(); ++processor) {
        if (schedule.order(processor).empty())
            ++idle;
        else if (rows.size() == lines_max)
            ++left_out;
        else
            rows.push_back({std::to_string(processor), line_of(schedule, processor, width)});
    }
    std::string text = columns(rows, 0);
    if (left_out > 0) text += fmt::format("and {} more processors\n", left_out);
    if (idle > 0) text += fmt::format("{} idle processors between them are not shown\n", idle);
    return text;
}

}  // namespace heddle::cli
