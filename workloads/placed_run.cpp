#include "workloads/placed_run.hpp"

#include <utility>

namespace heddle::workloads {

using model::PlacedGraph;

PlacedRun place_for_run(const partitioners::GraphToPlace& what, ClusterView cluster,
                        const runtime::Schedule& schedule, PlacedGraph::Data data) {
    cluster.message_seconds += PlacedGraph::message_bytes_besides * cluster.seconds_per_byte;
    partitioners::PlacedTasks placed =
        partitioners::place_graph(schedule.placement, what, cluster, schedule.seed);
    const bool strict = schedule.stealing.victim == "none";
    PlacedGraph plan(*what.graph, std::move(placed.placement), placed.sequence,
                     strict ? PlacedGraph::Order::strict : PlacedGraph::Order::ready, data);
    const auto bytes = static_cast<double>(plan.bytes_between_nodes());
    return {std::move(plan), {placed.makespan_seconds, placed.lower_bound_seconds, bytes}};
}

}  // namespace heddle::workloads
