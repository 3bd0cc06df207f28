// Calls the placement that the configuration names, and turns its result into a plan that nodes can run.
#include "workloads/placed_run.hpp"

#include <fmt/format.h>

#include <utility>

namespace heddle::workloads {

using model::PlacedGraph;

PlacedRun place_for_run(partitioners::GraphToPlace what, ClusterView cluster,
                        const runtime::Schedule& schedule, PlacedGraph::Data data) {
    what.file = schedule.placement_file;
    cluster.bytes_besides = PlacedGraph::message_bytes_besides;
    cluster.message_seconds += PlacedGraph::message_bytes_besides * cluster.seconds_per_byte;
    partitioners::PlacedTasks placed =
        partitioners::place_graph(schedule.placement, what, cluster, schedule.seed);
    const bool strict = schedule.stealing.victim == "none";
    PlacedGraph plan(*what.graph, std::move(placed.placement), placed.sequence,
                     strict ? PlacedGraph::Order::strict : PlacedGraph::Order::ready, data);
    const auto bytes = static_cast<double>(plan.bytes_between_nodes());
    return {std::move(plan),
            {placed.makespan_seconds, placed.lower_bound_seconds, placed.work_bound_seconds, bytes}};
}

std::optional<TaskLabel> label_of(const PlacedGraph& plan, std::uint64_t task, std::string kernel) {
    if (task >= plan.graph().tasks()) return std::nullopt;
    const auto index = static_cast<TaskIndex>(task);
    std::string name = plan.graph().name(index);
    if (name == fmt::format("task {}", task)) name.clear();  // which says no more than the number
    TaskLabel label{std::move(kernel), std::move(name), plan.placement().of(index)};
    for (const TaskGraph::Link& link : plan.graph().predecessors(index))
        label.predecessors.push_back(link.task);
    return label;
}

std::optional<TaskLabel> label_of(const PlacedGraph& plan, std::uint64_t task,
                                  const graphs::GraphFile& file) {
    const bool named = task < file.kernel_of.size();
    return named ? label_of(plan, task, file.kernels[file.kernel_of[task]]) : label_of(plan, task);
}

}  // namespace heddle::workloads
