// From a task graph to what a workload runs: the graph placed as the configuration says, and what that
// promises. The one place where the choice of placement and stealing meets a graph's execution.
#pragma once

#include "base/cluster_view.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/schedule.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {

struct PlacedRun {
    model::PlacedGraph plan;
    Forecast forecast;
};

/// Places the graph, which must outlive the result. Where nothing is stolen, workers keep strictly to the
/// order of the schedule. Throws Error as partitioners::place_graph does.
PlacedRun place_for_run(const partitioners::GraphToPlace& what, ClusterView cluster,
                        const runtime::Schedule& schedule, model::PlacedGraph::Data data);

}  // namespace heddle::workloads
