// A schedule under construction: placed tasks, when each processor is free, and when a task's data can be at
// a processor. The list schedulers share it; it makes no decisions.
#pragma once

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

/// The busy time of one processor, kept as the idle intervals within it.
class Timeline {
public:
    double end() const { return end_; }

    /// When a task of this duration can start at the earliest, in an idle interval or after everything.
    double first_gap(double ready, double duration) const;

    /// Takes the interval, which must be idle.
    void take(double start, double finish);

    void clear() {
        gaps_.clear();
        begin_ = 0;
        end_ = 0;
    }

private:
    struct Gap {
        double from, to;
    };
    double begin_ = 0;       ///< idle before that
    double end_ = 0;         ///< idle from then on
    std::vector<Gap> gaps_;  ///< in between, by time
};

class PartialSchedule {
public:
    explicit PartialSchedule(const Problem& problem);

    const Problem& problem() const { return *problem_; }

    /// The processors worth looking at are 0 to choices() - 1: of unused ones that are all alike, the first.
    ProcessorIndex choices() const { return choices_; }

    /// For each of the choices, when the data of this task can be there. Its predecessors are placed. Valid
    /// until the next call. O(choices + predecessors * processors of a node); on nodes that are not equally
    /// far from each other O(choices) and the time of arrival_ranges().
    const std::vector<double>& arrivals(TaskIndex task);

    /// Neighbouring processors at which the data of a task can be at the same moment; the first is the end of
    /// the range before.
    struct Range {
        ProcessorIndex end;
        double arrival;
    };
    /// The same as arrivals(), as ranges. O(predecessors * ranges).
    const std::vector<Range>& arrival_ranges(TaskIndex task);

    /// The same for one processor.
    double arrival(TaskIndex task, ProcessorIndex processor) const;

    /// When the processor has run everything it was given.
    double free_from(ProcessorIndex processor) const { return timelines_[processor].end(); }

    /// The processor that is free first; of equal ones the first.
    ProcessorIndex first_free();

    /// The earliest start of a task whose data are there from `ready` on, between or after what the processor
    /// runs.
    double first_gap(ProcessorIndex processor, double ready, double duration) const {
        return timelines_[processor].first_gap(ready, duration);
    }

    /// `start` comes from one of the above.
    void place(TaskIndex task, ProcessorIndex processor, double start);

    /// Places the task where it ends first, with or without insertion into idle intervals; of equal
    /// processors on the first.
    void place_to_end_first(TaskIndex task, bool insertion);

    const Slot& slot(TaskIndex task) const { return slots_[task]; }

    Schedule finish() && { return {*problem_, std::move(slots_)}; }

private:
    void arrivals_from_far(TaskIndex task);
    template <class Raise>
    void each_range(const TaskGraph::Link& link, Raise&& raise) const;

    const Problem* problem_;
    ProcessorIndex choices_;
    std::vector<Slot> slots_;
    std::vector<Timeline> timelines_;
    std::vector<double> arrivals_;
    std::vector<Range> ranges_, finer_;

    using Free = std::pair<double, ProcessorIndex>;
    std::priority_queue<Free, std::vector<Free>, std::greater<>>
        free_;  ///< old entries stay until they surface
};

/// Counts down the predecessors that are not placed yet.
class ReadyCount {
public:
    explicit ReadyCount(const TaskGraph& graph);

    /// Tasks without predecessors.
    const std::vector<TaskIndex>& entries() const { return entries_; }

    /// Calls `ready(task)` for every task whose last predecessor this was.
    template <class Function>
    void placed(TaskIndex task, Function&& ready) {
        for (const TaskGraph::Link& link : graph_->successors(task)) {
            if (--missing_[link.task] == 0) ready(link.task);
        }
    }

private:
    const TaskGraph* graph_;
    std::vector<std::uint32_t> missing_;
    std::vector<TaskIndex> entries_;
};

}  // namespace heddle::schedulers
