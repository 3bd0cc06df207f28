// The input of a list scheduler: a task graph and processors, the time of every task on every processor, and
// the delay of every message. Time is a plain number, in the unit of the machine's speeds. There is no
// contention: a message takes as long as if it had the network to itself. Nothing is scheduled here.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/task_graph.hpp"

namespace heddle::schedulers {

/// One processor (core) of the machine, counted node by node from 0.
using ProcessorIndex = std::uint32_t;

/// As many processors as there are tasks.
inline constexpr ProcessorIndex unbounded = std::numeric_limits<ProcessorIndex>::max();

/// What a message costs on its way: latency plus a time for each byte.
struct MessageCost {
    double latency = 0;
    double time_per_byte = 0;

    double of(double bytes) const { return latency + bytes * time_per_byte; }
};

/// The processors. A plain table: Problem checks it.
struct Machine {
    ProcessorIndex processors = 1;           ///< or `unbounded`
    ProcessorIndex processors_per_node = 1;  ///< neighbours by number share a node; the last may have fewer
    double speed = 1;                        ///< of every processor, flops per unit of time
    std::vector<double> speeds;              ///< one a processor instead of `speed`; empty: all alike
    std::vector<double> times;               ///< task x processor, row by row, instead of speeds; empty: none
    MessageCost within_node;                 ///< between different processors of a node
    MessageCost between_nodes;
    /// In place of `between_nodes`, if nodes are not all equally far from each other or times must be those
    /// of an exact run: tasks and messages then take whole picoseconds, and edges whole bytes.
    std::shared_ptr<const RouteTable> routes;
    double bytes_besides = 0;  ///< with `routes`: what a message carries besides its edge's bytes

    /// Equal processors; a message between two different ones takes its bytes as time, which is how the
    /// literature on task scheduling (Sinnen; Topcuoglu et al.) gives communication costs.
    static Machine equal(ProcessorIndex processors);

    /// Equal processors and free messages, as in the Standard Task Graph Set.
    static Machine without_communication(ProcessorIndex processors);

    /// `times[task * processors + processor]`; a message between processors takes its bytes as time.
    static Machine unrelated(ProcessorIndex processors, std::vector<double> times);

    /// Nodes of equal processors.
    static Machine nodes(WorkerGrid grid, double speed, MessageCost within_node, MessageCost between_nodes);

    /// The workers of a cluster, with their own speeds and distances; messages within a node are free.
    /// `costs`: flops of each task on each worker, or empty. Throws Error if there are costs for another
    /// number of workers.
    static Machine of_cluster(const ClusterView& cluster, std::span<const std::vector<double>> costs = {});

    /// Fills `times` from the flops of each task on each processor; empty: every task has the flops of the
    /// graph. Throws Error if there are costs for another number of processors.
    void set_costs(std::span<const std::vector<double>> costs);
};

class Problem {
public:
    /// Keeps a reference to the graph. Throws Error for a machine without processors, for speeds, times or
    /// costs that are not positive (times and costs: negative) or not finite, and for tables of the wrong
    /// size; a machine with tables of speeds or times has a number of processors.
    Problem(const TaskGraph& graph, Machine machine);

    const TaskGraph& graph() const { return *graph_; }
    const Machine& machine() const { return machine_; }
    TaskIndex tasks() const { return graph_->tasks(); }

    /// How many processors a schedule may name: the machine's; if they are unbounded, one for each task.
    ProcessorIndex processors() const { return processors_; }

    bool is_unbounded() const { return machine_.processors == unbounded; }

    /// Whether every task takes the same time on every processor.
    bool equal_speeds() const { return equal_speeds_; }

    /// Whether every two processors of different nodes are equally far from each other.
    bool equal_distances() const { return equal_distances_; }

    /// Whether speeds are equal, and every two processors equally far from each other: unused processors are
    /// then all alike.
    bool interchangeable() const { return equal_speeds_ && single_ && equal_distances_; }

    /// Whether tasks and messages take whole picoseconds, and times are in seconds.
    bool in_picoseconds() const { return machine_.routes != nullptr; }

    double time(TaskIndex task, ProcessorIndex processor) const {
        const double time = unrounded_time(task, processor);
        return in_picoseconds() ? to_seconds(from_seconds(time)) : time;
    }
    /// The same as a Time. The problem is in picoseconds. Throws Error beyond the range of Time.
    Time exact_time(TaskIndex task, ProcessorIndex processor) const {
        return from_seconds(unrounded_time(task, processor));
    }
    /// The first processor after this one, up to `end`, on which the task may take another time.
    ProcessorIndex same_time_until(TaskIndex task, ProcessorIndex processor, ProcessorIndex end) const;
    /// Mean over the processors.
    double mean_time(TaskIndex task) const { return equal_speeds_ ? time(task, 0) : mean_times_[task]; }
    /// On the fastest processor for this task.
    double least_time(TaskIndex task) const { return equal_speeds_ ? time(task, 0) : least_times_[task]; }

    /// All tasks divided by the speed of all processors together, as if work could be divided at will: no
    /// schedule is shorter. With a table of times: every task at its fastest, evenly on all processors.
    double least_work_time() const { return least_work_time_; }

    ProcessorIndex node(ProcessorIndex processor) const {
        return single_ ? processor : processor / machine_.processors_per_node;
    }
    /// The processors of a node, from first to before last.
    std::pair<ProcessorIndex, ProcessorIndex> processors_of(ProcessorIndex node) const;

    /// From the end of a task to the moment its data can be used; 0 on the same processor.
    double delay(double bytes, ProcessorIndex from, ProcessorIndex to) const {
        if (from == to) return 0;
        const ProcessorIndex a = node(from), b = node(to);
        if (a == b) return machine_.within_node.of(bytes);
        return in_picoseconds() ? to_seconds(on_route(bytes, a, b)) : machine_.between_nodes.of(bytes);
    }
    /// The same as a Time. The problem is in picoseconds. Throws Error beyond the range of Time.
    Time exact_delay(double bytes, ProcessorIndex from, ProcessorIndex to) const {
        if (from == to) return {};
        const ProcessorIndex a = node(from), b = node(to);
        return a == b ? from_seconds(machine_.within_node.of(bytes)) : on_route(bytes, a, b);
    }
    /// Between processors of two nodes, given by number.
    double delay_between(double bytes, ProcessorIndex node, ProcessorIndex other) const {
        return in_picoseconds() ? to_seconds(on_route(bytes, node, other)) : machine_.between_nodes.of(bytes);
    }
    /// The nodes from `other` to before the result are as far from `node` as `other` is, `node` left out.
    ProcessorIndex equally_far_until(ProcessorIndex node, ProcessorIndex other) const {
        return equal_distances_ ? unbounded : machine_.routes->same_until(node, other);
    }
    /// Between different nodes, where they are equally far from each other.
    double far_delay(double bytes) const {
        return in_picoseconds() ? to_seconds(on_route(bytes, 0, 1)) : machine_.between_nodes.of(bytes);
    }
    /// No message between different processors takes less, or more.
    double least_delay(double bytes) const;
    double most_delay(double bytes) const;
    /// Mean over all pairs of different processors (Topcuoglu et al. 2002, section 3); 0 where there is only
    /// one.
    double mean_delay(double bytes) const { return mean_delay_.of(bytes); }

private:
    double unrounded_time(TaskIndex task, ProcessorIndex processor) const {
        if (!machine_.times.empty()) {
            return machine_.times[std::size_t{task} * machine_.processors + processor];
        }
        return graph_->flops(task) / (machine_.speeds.empty() ? machine_.speed : machine_.speeds[processor]);
    }
    Time on_route(double bytes, ProcessorIndex from, ProcessorIndex to) const {
        return machine_.routes->between(from, to).of(std::round(bytes) + machine_.bytes_besides);
    }
    MessageCost mean_cost() const;
    void refuse_endless_tasks() const;
    void find_times();
    void find_least_work_time();

    const TaskGraph* graph_;
    Machine machine_;
    ProcessorIndex processors_;
    bool equal_speeds_;
    bool equal_distances_;
    bool single_;  ///< each processor is a node of its own
    MessageCost mean_delay_;
    RouteTable::Bounds routes_bounds_{};
    double least_work_time_ = 0;
    std::vector<double> mean_times_, least_times_;
};

}  // namespace heddle::schedulers
