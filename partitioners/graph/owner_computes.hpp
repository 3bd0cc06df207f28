// Turns parts of data into places of tasks: a task runs where the datum that it writes is (Gautier, Besseron,
// Pigeon: KAAPI, 2007, section 3.5).
#pragma once

#include <span>

#include "base/placement.hpp"
#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::partitioners {

/// `writes[t]`: the datum that task t writes. Empty: each task writes a datum of its own, with the task's
/// number. Throws Error where the data, tasks and parts do not fit together.
Placement owner_computes(const Parts& part, std::span<const DatumIndex> writes, TaskIndex tasks,
                         const WorkerGrid& grid);

/// All of section 3.5: the graph of the data is made from the tasks and partitioned, and the tasks follow
/// their data. `speeds`: of each worker; empty: all alike.
Placement place_by_data(const GraphPartitioner& partitioner, const TaskGraph& graph,
                        std::span<const DatumIndex> writes, DatumIndex data, const WorkerGrid& grid,
                        std::span<const double> speeds = {});

}  // namespace heddle::partitioners
