// A placement that a file states: a CSV table of tasks with the worker of each. So schedules of other
// programs run here, and what a run did can be done again: `heddle run --tasks` writes such a table.
#pragma once

#include <string>
#include <vector>

#include "base/placement.hpp"
#include "base/task_graph.hpp"

namespace heddle::partitioners {

struct StatedPlacement {
    Placement placement;
    std::vector<TaskIndex> sequence;  ///< all tasks, each after its predecessors: a worker runs its own so
};

/// Reads a table with the columns `task`, `node` and `worker`, in any order and among others. A task is a
/// name of the graph or its number from 0 on (first a name; with a column `name`, first a number); rows
/// without one are left out. With a column `start_seconds` a
/// worker runs its tasks by that, and tasks of one time in the order of the rows; without one in the order of
/// the rows. Throws Error, with file and line, for a table that does not place each task once on a worker of
/// the grid, and for orders in which tasks would wait for each other.
StatedPlacement read_placement(const std::string& path, const TaskGraph& graph, const WorkerGrid& grid);

}  // namespace heddle::partitioners
