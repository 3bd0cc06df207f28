// Places a task graph as the configuration says, gives the plan that the nodes run, and predicts its
// makespan. All workloads that place a graph use this file.
#pragma once

#include <string>

#include "base/cluster_view.hpp"
#include "graphs/graph_file.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/run/schedule.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

struct PlacedRun {
    model::PlacedGraph plan;
    Forecast forecast;
};

/// Places the graph, which must outlive the result. Where nothing is stolen, workers keep strictly to the
/// order of the schedule. Throws Error as partitioners::place_graph does.
PlacedRun place_for_run(partitioners::GraphToPlace what, ClusterView cluster,
                        const runtime::Schedule& schedule, model::PlacedGraph::Data data);

/// What a task of the placed graph is called; nothing if it has no such task.
std::optional<TaskLabel> label_of(const model::PlacedGraph& plan, std::uint64_t task,
                                  std::string kernel = "task");

/// The same for a task of the file, with its kernel if the file names one.
std::optional<TaskLabel> label_of(const model::PlacedGraph& plan, std::uint64_t task,
                                  const graphs::GraphFile& file);

}  // namespace heddle::workloads
