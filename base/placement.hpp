// Where each task of a graph starts: its node and core. A table only; the code in partitioners/ fills it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/task_graph.hpp"

namespace heddle {

/// The workers that tasks are placed on: `cores` of them on each of `nodes` nodes.
struct WorkerGrid {
    NodeId nodes = 1;
    CoreId cores = 1;

    std::size_t workers() const { return std::size_t{nodes} * cores; }

    /// Worker number `index`, 0 to workers() - 1, counted node by node.
    WorkerId worker(std::size_t index) const {
        return {static_cast<NodeId>(index / cores), static_cast<CoreId>(index % cores)};
    }
};

class Placement {
public:
    /// Throws Error where a worker lies outside the grid.
    Placement(WorkerGrid grid, std::vector<WorkerId> of_task);

    WorkerId of(TaskIndex task) const { return of_task_[task]; }
    TaskIndex tasks() const { return static_cast<TaskIndex>(of_task_.size()); }
    const WorkerGrid& grid() const { return grid_; }

    /// The tasks of one worker, in the order of their numbers.
    std::vector<TaskIndex> tasks_of(WorkerId worker) const;

    /// The most work on one worker divided by the mean over all workers; 1 is even. The graph must be the one
    /// that was placed, with work in it.
    double imbalance(const TaskGraph& graph) const;

    /// Bytes on edges between different nodes.
    double bytes_between_nodes(const TaskGraph& graph) const;

private:
    WorkerGrid grid_;
    std::vector<WorkerId> of_task_;
};

}  // namespace heddle
