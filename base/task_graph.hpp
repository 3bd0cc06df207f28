// A program as a graph: tasks with their work, edges with the data that one task hands to another. Immutable
// once built, in compressed sparse rows. It schedules and runs nothing. Boost.Graph's algorithms run on it
// (base/task_graph_boost.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle {

/// One task of a graph, 0 to tasks - 1.
using TaskIndex = std::uint32_t;

/// The most that the weights of a graph may sum up to. Above it, ratios and means of weights could leave the
/// range of numbers.
inline constexpr double weight_sum_max = 1e300;

/// Throws Error if `sum` exceeds `weight_sum_max` or is not a number. `what`: `the work of all tasks`.
void check_weight_sum(double sum, const char* what);

class TaskGraph {
public:
    /// The far end of an edge, as seen from one of its tasks.
    struct Link {
        TaskIndex task = 0;
        double bytes = 0;  ///< handed from predecessor to successor
    };

    /// The longest path through the graph, where passing an edge costs its bytes times a factor.
    struct CriticalPath {
        double length = 0;             ///< flops
        std::vector<TaskIndex> tasks;  ///< in order
    };

    TaskIndex tasks() const { return static_cast<TaskIndex>(flops_.size()); }
    std::size_t edges() const { return successors_.size(); }

    double flops(TaskIndex task) const { return flops_[task]; }

    /// The name given to the builder, or `task 17`.
    std::string name(TaskIndex task) const;

    std::span<const Link> successors(TaskIndex task) const {
        return {successors_.data() + successors_begin_[task],
                successors_.data() + successors_begin_[task + 1]};
    }
    std::span<const Link> predecessors(TaskIndex task) const {
        return {predecessors_.data() + predecessors_begin_[task],
                predecessors_.data() + predecessors_begin_[task + 1]};
    }

    /// Every task after all its predecessors.
    const std::vector<TaskIndex>& topological_order() const { return order_; }

    /// Flops of all tasks.
    double total_work() const;

    /// `flops_per_byte`: how much work could be done in the time that a byte takes; 0: edges are free.
    CriticalPath critical_path(double flops_per_byte = 0) const;

    /// Multiplies the work of every task by `factor`, which is above 0. Throws Error if the sum then exceeds
    /// `weight_sum_max`.
    void scale_work(double factor);

    /// `count` tasks of equal work without edges, which is how a plain array of items is placed.
    static TaskGraph independent(TaskIndex count, double flops = 1);

private:
    friend class TaskGraphBuilder;

    std::vector<double> flops_;
    std::vector<std::string> names_;  ///< empty where no task has a name
    std::vector<std::size_t> successors_begin_, predecessors_begin_;
    std::vector<Link> successors_, predecessors_;
    std::vector<TaskIndex> order_;
};

/// Collects tasks and edges, in any order. Refuses what is not a task graph when it is built.
class TaskGraphBuilder {
public:
    /// Returns the new task's index. `where`: where a person wrote it, for errors. Throws Error for work that
    /// is negative or not a number.
    TaskIndex add_task(double flops, std::string name = {}, const Location& where = {});

    /// The tasks may be added later. Throws Error for negative bytes. Two edges between the same tasks are
    /// two messages.
    void add_edge(TaskIndex from, TaskIndex to, double bytes, const Location& where = {});

    /// Throws Error for an edge to a task that does not exist, for a cycle, naming the tasks on it, and for
    /// work or bytes whose sum exceeds `weight_sum_max`.
    /// Leaves the builder empty.
    TaskGraph build();

private:
    struct Edge {
        TaskIndex from;
        TaskIndex to;
        double bytes;
        int line;
        std::uint32_t file;  ///< in files_: millions of edges come from few files
    };
    TaskGraph graph_;
    std::vector<Edge> edges_;
    std::vector<std::string> files_;
};

}  // namespace heddle
