#include "workloads/unrolled.hpp"

#include <fmt/format.h>

#include "partitioners/place_graph.hpp"

namespace heddle::workloads {

using model::PlacedGraph;

Setting UnrollLimits::setting() {
    return {"unroll",
            SettingKind::integer,
            "0",
            "depth to which the tree is opened before the run, for placement; 0: not, or as deep as a "
            "placement needs",
            {},
            0};
}

bool UnrollLimits::wanted(const Settings& settings, const runtime::Schedule& schedule) {
    return settings.integer("unroll") > 0 || schedule.placement != "none";
}

UnrollLimits::UnrollLimits(const Settings& settings, const WorkerGrid& grid)
    : depth_(settings.integer("unroll")),
      leaves_wanted_(leaves_per_worker * grid.workers()),
      tasks_wanted_(tasks_per_worker * grid.workers()),
      where_(settings.where("unroll")) {}

bool UnrollLimits::reached(std::int64_t depth, std::size_t leaves, std::size_t tasks) const {
    if (depth_ > 0) return depth >= depth_;
    return leaves >= leaves_wanted_ || tasks >= tasks_wanted_;
}

void UnrollLimits::check(std::size_t tasks) const {
    if (tasks <= tasks_max) return;
    throw Error(fmt::format("the unrolled tree has more than {} tasks", tasks_max),
                "set workload.unroll to a lower depth", where_);
}

UnrolledGraph::UnrolledGraph(std::span<const TaskIndex> parents, std::span<const double> flops,
                             std::size_t argument_bytes, ClusterView cluster,
                             const runtime::Schedule& schedule) {
    TaskGraphBuilder builder;
    for (const double work : flops) builder.add_task(work);
    for (TaskIndex task = 1; task < parents.size(); ++task)
        builder.add_edge(parents[task], task, static_cast<double>(argument_bytes));
    graph_ = builder.build();

    cluster.message_seconds += PlacedGraph::message_bytes_besides * cluster.seconds_per_byte;
    partitioners::PlacedTasks placed =
        partitioners::place_graph(schedule.placement, {&graph_}, cluster, schedule.seed);
    const bool strict = schedule.stealing.victim == "none";
    plan_.emplace(graph_, std::move(placed.placement), placed.sequence,
                  strict ? PlacedGraph::Order::strict : PlacedGraph::Order::ready,
                  PlacedGraph::Data::declared);
    // No lower bound: a task below may be shared among workers, and its weight may be a guess.
    forecast_.makespan_seconds = placed.makespan_seconds;
    forecast_.data_bytes = static_cast<double>(plan_->bytes_between_nodes());
}

}  // namespace heddle::workloads
