// Builds a schedule's table and the order on each processor, and measures the schedule.
#include "partitioners/schedulers/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::schedulers {

namespace {

/// The place of each task in the graph's topological order.
std::vector<TaskIndex> ranks(const TaskGraph& graph) {
    std::vector<TaskIndex> rank(graph.tasks());
    TaskIndex place = 0;
    for (const TaskIndex task : graph.topological_order()) rank[task] = place++;
    return rank;
}

/// The nearest number, which is what results print.
double nearest_seconds(Time time) {
    return static_cast<double>(time.count()) / 1e12;
}

}  // namespace

Schedule::Schedule(const Problem& problem, std::vector<Slot> slots) : slots_(std::move(slots)) {
    if (slots_.size() != problem.tasks()) {
        throw Error(fmt::format("a schedule of {} tasks for a graph of {}", slots_.size(), problem.tasks()),
                    "a schedule has one slot for each task");
    }
    ProcessorIndex processors = 0;
    for (const Slot& slot : slots_) {
        if (slot.processor >= problem.processors()) {
            throw Error(fmt::format("a schedule names processor {}", slot.processor),
                        fmt::format("the machine has {}, counted from 0", problem.processors()));
        }
        processors = std::max(processors, slot.processor + 1);
        makespan_ = std::max(makespan_, slot.finish);
    }
    order_begin_.assign(std::size_t{processors} + 1, 0);
    for (const Slot& slot : slots_) ++order_begin_[slot.processor + 1];
    for (std::size_t i = 0; i < processors; ++i) order_begin_[i + 1] += order_begin_[i];
    order_.resize(slots_.size());
    std::vector<std::size_t> next(order_begin_.begin(), order_begin_.end() - 1);
    for (TaskIndex task = 0; task < slots_.size(); ++task) order_[next[slots_[task].processor]++] = task;

    // Only tasks without duration can agree in both times; the graph's order is looked up for them alone.
    std::vector<TaskIndex> rank;
    const auto earlier = [&](TaskIndex a, TaskIndex b) {
        const Slot &one = slots_[a], &two = slots_[b];
        if (one.start != two.start) return one.start < two.start;
        if (one.finish != two.finish) return one.finish < two.finish;
        if (a == b) return false;
        if (rank.empty()) rank = ranks(problem.graph());
        return rank[a] < rank[b];
    };
    for (std::size_t i = 0; i < processors; ++i) {
        // Stable: a schedule to be checked may hold times that are no numbers.
        std::stable_sort(order_.begin() + static_cast<std::ptrdiff_t>(order_begin_[i]),
                         order_.begin() + static_cast<std::ptrdiff_t>(order_begin_[i + 1]), earlier);
    }
}

ProcessorIndex Schedule::processors_used() const {
    ProcessorIndex used = 0;
    for (std::size_t i = 0; i + 1 < order_begin_.size(); ++i) used += order_begin_[i] < order_begin_[i + 1];
    return used;
}

Placement Schedule::placement(WorkerGrid grid) const {
    std::vector<WorkerId> of_task;
    of_task.reserve(slots_.size());
    for (const Slot& slot : slots_) of_task.push_back(grid.worker(slot.processor));
    return {grid, std::move(of_task)};
}

Schedule run_in_sequence(const Problem& problem, std::span<const ProcessorIndex> processor,
                         std::span<const TaskIndex> sequence) {
    HEDDLE_ASSERT(processor.size() == problem.tasks() && sequence.size() == problem.tasks());
    std::vector<Slot> slots(problem.tasks());
    std::vector<double> free_from(problem.processors(), 0);
    for (const TaskIndex task : sequence) {
        Slot& slot = slots[task];
        slot.processor = processor[task];
        slot.start = free_from[slot.processor];
        for (const TaskGraph::Link& link : problem.graph().predecessors(task)) {
            const Slot& before = slots[link.task];
            const double arrival =
                before.finish + problem.delay(link.bytes, before.processor, slot.processor);
            slot.start = std::max(slot.start, arrival);
        }
        slot.finish = slot.start + problem.time(task, slot.processor);
        free_from[slot.processor] = slot.finish;
    }
    return {problem, std::move(slots)};
}

std::vector<TaskIndex> sequence_of(const Problem& problem, const Schedule& schedule) {
    const std::vector<TaskIndex> rank = ranks(problem.graph());
    std::vector<TaskIndex> sequence(problem.tasks());
    std::iota(sequence.begin(), sequence.end(), TaskIndex{0});
    std::sort(sequence.begin(), sequence.end(), [&](TaskIndex a, TaskIndex b) {
        const Slot &one = schedule.slot(a), &two = schedule.slot(b);
        return std::tuple(one.start, one.finish, rank[a]) < std::tuple(two.start, two.finish, rank[b]);
    });
    return sequence;
}

ExactSchedule run_exactly(const Problem& problem, std::span<const ProcessorIndex> processor,
                          std::span<const TaskIndex> sequence) {
    HEDDLE_ASSERT(problem.in_picoseconds());
    HEDDLE_ASSERT(processor.size() == problem.tasks() && sequence.size() == problem.tasks());
    std::vector<Slot> slots(problem.tasks());
    std::vector<Time> finish(problem.tasks());
    std::vector<Time> free_from(problem.processors());
    Time makespan{};
    for (const TaskIndex task : sequence) {
        const ProcessorIndex here = processor[task];
        Time start = free_from[here];
        for (const TaskGraph::Link& link : problem.graph().predecessors(task)) {
            const Time delay = problem.exact_delay(link.bytes, processor[link.task], here);
            start = std::max(start, checked_sum(finish[link.task], delay));
        }
        finish[task] = free_from[here] = checked_sum(start, problem.exact_time(task, here));
        slots[task] = {here, nearest_seconds(start), nearest_seconds(finish[task])};
        makespan = std::max(makespan, finish[task]);
    }
    return {{problem, std::move(slots)}, makespan};
}

ExactSchedule run_exactly(const Problem& problem, const Schedule& schedule) {
    std::vector<ProcessorIndex> processors;
    processors.reserve(problem.tasks());
    for (TaskIndex task = 0; task < problem.tasks(); ++task) processors.push_back(schedule.processor(task));
    ExactSchedule exact = run_exactly(problem, processors, sequence_of(problem, schedule));
    exact.schedule.set_proved_bound(schedule.proved_bound());
    return exact;
}

double schedule_length_ratio(const Problem& problem, const Schedule& schedule) {
    double length = 0;
    std::vector<double> end(problem.tasks(), 0);
    for (const TaskIndex task : problem.graph().topological_order()) {
        for (const TaskGraph::Link& link : problem.graph().predecessors(task)) {
            end[task] = std::max(end[task], end[link.task]);
        }
        end[task] += problem.least_time(task);
        length = std::max(length, end[task]);
    }
    return length > 0 ? schedule.makespan() / length : 1;
}

double speedup(const Problem& problem, const Schedule& schedule) {
    if (!(schedule.makespan() > 0)) return 1;
    double least = std::numeric_limits<double>::infinity();
    const ProcessorIndex kinds = problem.equal_speeds() ? 1 : problem.processors();
    for (ProcessorIndex processor = 0; processor < kinds; ++processor) {
        double sum = 0;
        for (TaskIndex task = 0; task < problem.tasks(); ++task) sum += problem.time(task, processor);
        least = std::min(least, sum);
    }
    return least / schedule.makespan();
}

double efficiency(const Problem& problem, const Schedule& schedule) {
    const ProcessorIndex processors =
        problem.is_unbounded() ? schedule.processors_used() : problem.processors();
    return speedup(problem, schedule) / std::max<ProcessorIndex>(processors, 1);
}

}  // namespace heddle::schedulers
