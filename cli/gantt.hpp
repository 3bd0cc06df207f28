// Draws a Gantt chart in text: a line for each processor or worker, time to the right. It suits small
// schedules: a task shorter than one character cannot be seen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "partitioners/schedulers/schedule.hpp"
#include "results/trace_format.hpp"

namespace heddle::cli {

struct GanttBar {
    double begin = 0;
    double end = 0;
    std::string label;
};

struct GanttLine {
    std::string name;
    std::vector<GanttBar> bars;  ///< by begin
};

/// `width` characters for the time from 0 to `end`. A task is its label, drawn out with `=`, or `#` if there
/// is no room for the label; `.` is time without a task. Lines without a bar, and those after the 32nd line,
/// are counted instead, as so many `empty` and `things`.
std::string gantt(const std::vector<GanttLine>& lines, double end, const std::string& things,
                  const std::string& empty, std::size_t width = 64);

/// The same of a schedule, with its tasks' numbers.
std::string gantt(const schedulers::Schedule& schedule, std::size_t width = 64);

/// Collects the tasks of a run for the picture, without the times in which they pause. A task that runs
/// inside another one is not shown. What is too short to be seen becomes part of the next bar, so that tasks
/// which go on again and again take some thousand bars of each line.
class RunGantt final : public results::TraceFormat {
public:
    void begin(NodeId nodes, CoreId cores) override;
    void task_begins(const results::TracedTask& task) override;
    void task_pauses(const results::TracedTask& task, Time time) override;
    void task_goes_on(const results::TracedTask& task, Time time) override;
    void task_ends(const results::TracedTask& task, const TaskWork& work, Time time) override;
    void states_end(Time time) override;

    std::string picture() const;
    const std::vector<GanttLine>& lines() const { return lines_; }

private:
    std::size_t line_of(const results::TracedTask& task) const {
        return std::size_t{task.worker.node} * cores_ + task.worker.core;
    }

    CoreId cores_ = 0;
    Time end_{};
    std::vector<GanttLine> lines_;
    std::vector<std::size_t> open_;  ///< tasks on each worker's stack
};

}  // namespace heddle::cli
