// A schedule: where and when each task runs, with the measures by which schedules are compared. A table only:
// a scheduler (scheduler.hpp) makes it, verify.hpp checks it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "partitioners/schedulers/problem.hpp"

namespace heddle::schedulers {

/// When and where one task runs.
struct Slot {
    ProcessorIndex processor = 0;
    double start = 0;
    double finish = 0;
};

class Schedule {
public:
    /// One slot a task. The order on a processor is by start, then finish, then the graph's topological
    /// order, so that tasks which take no time come before those that wait for them. Throws Error for a wrong
    /// number of slots or a processor that the machine lacks; whether the schedule is feasible is for
    /// `verify`.
    Schedule(const Problem& problem, std::vector<Slot> slots);

    TaskIndex tasks() const { return static_cast<TaskIndex>(slots_.size()); }
    const Slot& slot(TaskIndex task) const { return slots_[task]; }
    ProcessorIndex processor(TaskIndex task) const { return slots_[task].processor; }
    double start(TaskIndex task) const { return slots_[task].start; }
    double finish(TaskIndex task) const { return slots_[task].finish; }

    /// One more than the highest processor used.
    ProcessorIndex processors() const { return static_cast<ProcessorIndex>(order_begin_.size() - 1); }
    /// The tasks of a processor in the order in which it runs them.
    std::span<const TaskIndex> order(ProcessorIndex processor) const {
        if (processor >= processors()) return {};
        return {order_.data() + order_begin_[processor], order_.data() + order_begin_[processor + 1]};
    }
    /// How many processors run at least one task.
    ProcessorIndex processors_used() const;

    /// The time from 0 to the end of the last task.
    double makespan() const { return makespan_; }

    /// No schedule is shorter than this, as its scheduler found out; 0 where it did not try. Equal to the
    /// makespan: proved optimal.
    double proved_bound() const { return proved_bound_; }
    void set_proved_bound(double bound) { proved_bound_ = bound; }
    bool proved_optimal() const { return makespan_ <= proved_bound_ * (1 + 1e-12); }

    /// The worker of each task. Throws Error where a processor lies outside the grid.
    Placement placement(WorkerGrid grid) const;

private:
    std::vector<Slot> slots_;
    std::vector<TaskIndex> order_;
    std::vector<std::size_t> order_begin_;
    double makespan_ = 0;
    double proved_bound_ = 0;
};

/// The schedule that runs every task as early as its processor's order and its data allow, where each
/// processor runs its tasks in the order in which they stand in `sequence`: all tasks, each after its
/// predecessors.
Schedule run_in_sequence(const Problem& problem, std::span<const ProcessorIndex> processor,
                         std::span<const TaskIndex> sequence);

/// All tasks by their starts, each after its predecessors.
std::vector<TaskIndex> sequence_of(const Problem& problem, const Schedule& schedule);

/// A schedule with its makespan in whole picoseconds.
struct ExactSchedule {
    Schedule schedule;
    Time makespan{};
};

/// `run_in_sequence` in whole picoseconds, which is what a run without overheads, contention and
/// stealing takes. The problem is in picoseconds. Throws Error beyond the range of Time.
ExactSchedule run_exactly(const Problem& problem, std::span<const ProcessorIndex> processor,
                          std::span<const TaskIndex> sequence);

/// The same for the processors and the order of a schedule; what it proved still holds.
ExactSchedule run_exactly(const Problem& problem, const Schedule& schedule);

/// Schedule length ratio: the makespan divided by the length of the critical path without communication,
/// every task on its fastest processor (Topcuoglu et al. 2002, section 6.1). 1 where there is no work.
double schedule_length_ratio(const Problem& problem, const Schedule& schedule);

/// The time of all tasks on the best single processor, divided by the makespan (the same, section 6.1).
double speedup(const Problem& problem, const Schedule& schedule);

/// Speedup for each processor of the machine; where they are unbounded, for each one used.
double efficiency(const Problem& problem, const Schedule& schedule);

}  // namespace heddle::schedulers
