// What a list scheduler is asked: a task graph and the processors it runs on, with the time of every task and
// the delay of every message. Time is a plain number in the unit that the machine's speeds are given in. It
// schedules nothing, and it knows no contention: a message takes as long as if it were alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/placement.hpp"
#include "base/task_graph.hpp"

namespace heddle::schedulers {

/// One processor (core) of the machine, counted node by node from 0.
using ProcessorIndex = std::uint32_t;

/// As many processors as anybody could use.
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

    /// Equal processors; a message between two different ones takes its bytes as time, which is how the
    /// literature on task scheduling (Sinnen; Topcuoglu et al.) gives communication costs.
    static Machine equal(ProcessorIndex processors);

    /// Equal processors and free messages, as in the Standard Task Graph Set.
    static Machine without_communication(ProcessorIndex processors);

    /// `times[task * processors + processor]`; a message between processors takes its bytes as time.
    static Machine unrelated(ProcessorIndex processors, std::vector<double> times);

    /// Nodes of equal processors.
    static Machine nodes(WorkerGrid grid, double speed, MessageCost within_node, MessageCost between_nodes);
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

    /// How many processors a schedule may name: the machine's; where they are unbounded, one for each task.
    ProcessorIndex processors() const { return processors_; }

    bool is_unbounded() const { return machine_.processors == unbounded; }

    /// True where every task takes the same time on every processor.
    bool equal_speeds() const { return equal_speeds_; }

    /// True where moreover every two processors are equally far from each other: unused ones are all alike.
    bool interchangeable() const { return equal_speeds_ && single_; }

    double time(TaskIndex task, ProcessorIndex processor) const {
        if (!machine_.times.empty()) {
            return machine_.times[std::size_t{task} * machine_.processors + processor];
        }
        return graph_->flops(task) / (machine_.speeds.empty() ? machine_.speed : machine_.speeds[processor]);
    }
    /// Mean over the processors.
    double mean_time(TaskIndex task) const {
        return equal_speeds_ ? graph_->flops(task) / machine_.speed : mean_times_[task];
    }
    /// On the fastest processor for this task.
    double least_time(TaskIndex task) const {
        return equal_speeds_ ? graph_->flops(task) / machine_.speed : least_times_[task];
    }

    ProcessorIndex node(ProcessorIndex processor) const {
        return single_ ? processor : processor / machine_.processors_per_node;
    }
    /// The processors of a node, from first to before last.
    std::pair<ProcessorIndex, ProcessorIndex> processors_of(ProcessorIndex node) const;

    /// From the end of a task to the moment its data can be used; 0 on the same processor.
    double delay(double bytes, ProcessorIndex from, ProcessorIndex to) const {
        if (from == to) return 0;
        return node(from) == node(to) ? machine_.within_node.of(bytes) : machine_.between_nodes.of(bytes);
    }
    /// Mean over all pairs of different processors (Topcuoglu et al. 2002, section 3); 0 where there is only
    /// one.
    double mean_delay(double bytes) const { return mean_delay_.of(bytes); }

private:
    const TaskGraph* graph_;
    Machine machine_;
    ProcessorIndex processors_;
    bool equal_speeds_;
    bool single_;  ///< each processor is a node of its own
    MessageCost mean_delay_;
    std::vector<double> mean_times_, least_times_;
};

}  // namespace heddle::schedulers
