// Places a task graph by a method's name: a partitioner (graph/), a list scheduler (schedulers/), a simple
// rule. The result says which worker runs each task, in which order. Runs nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/cluster_view.hpp"
#include "base/data_graph.hpp"
#include "base/task_graph.hpp"

namespace heddle::partitioners {

/// In place of a method's name: as a file states.
inline constexpr const char* from_file = "file";

/// A method that a configuration may give as its placement.
struct NamedPlacement {
    std::string name;
    std::string help;
};

/// All of them, in the order in which they are documented, and their names.
const std::vector<NamedPlacement>& placements();
std::vector<std::string> placement_names();

/// What is placed. The graph and the tables must outlive the call.
struct GraphToPlace {
    const TaskGraph* graph = nullptr;
    std::span<const DatumIndex> writes = {};  ///< the datum that each task writes; empty: one of its own
    DatumIndex data = 0;                      ///< how many data there are
    std::span<const std::vector<double>> costs = {};  ///< flops of a task on each worker; empty: all alike
    std::string file = {};                            ///< that `from_file` reads (placement_file.hpp)
};

struct PlacedTasks {
    Placement placement;
    std::vector<TaskIndex> sequence;  ///< all tasks, each after its predecessors: a worker runs its own so
    double makespan_seconds = 0;      ///< as promised: every message has the network to itself
    double lower_bound_seconds = 0;   ///< no schedule of this graph on this cluster is shorter
    double work_bound_seconds = 0;    ///< nor would be if messages took no time
    Time makespan{};                  ///< the promise to the picosecond, if the cluster has routes; else 0
};

/// Places a graph. Schedulers give their own order; under any other name a worker prefers the task with the
/// longest way to the end of the graph (its b-level). The same arguments give the same result. Throws Error
/// for an unknown name (with the nearest known one) and for costs that do not fit the cluster.
PlacedTasks place_graph(const std::string& name, const GraphToPlace& what, const ClusterView& cluster,
                        std::uint64_t seed);

}  // namespace heddle::partitioners
