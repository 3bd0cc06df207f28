// Builds the task graph of a tree of calls that is opened before a run, within limits of depth and tasks.
#include "workloads/unrolled.hpp"

#include <fmt/format.h>

namespace heddle::workloads {

Setting UnrollLimits::setting() {
    return {"unroll",
            SettingKind::integer,
            "0",
            "depth to which the tree is opened before the run, for placement; 0: not, or as deep as a "
            "placement needs",
            {},
            0,
            1e6};
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
                             std::size_t argument_bytes, const ClusterView& cluster,
                             const runtime::Schedule& schedule) {
    TaskGraphBuilder builder;
    for (const double work : flops) builder.add_task(work);
    for (TaskIndex task = 1; task < parents.size(); ++task)
        builder.add_edge(parents[task], task, static_cast<double>(argument_bytes));
    graph_ = builder.build();

    placed_ = place_for_run({&graph_}, cluster, schedule, model::PlacedGraph::Data::declared);
    // A task below may be shared among workers, and its weight may be a guess.
    placed_->forecast.lower_bound_seconds.reset();
    placed_->forecast.work_bound_seconds.reset();
}

}  // namespace heddle::workloads
