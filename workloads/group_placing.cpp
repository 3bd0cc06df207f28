// Places a recorded graph of dataflow tasks by one call of partitioners/.
#include "workloads/group_placing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "partitioners/place_graph.hpp"
#include "partitioners/schedulers/scheduler.hpp"

namespace heddle::workloads {

namespace {

/// Partitioners make a part for each worker, and an empty one would be a mistake in the program's sizes. A
/// scheduler may leave a worker without tasks because the rest then ends earlier.
void expect_a_task_for_each_part(const std::string& placement, TaskIndex tasks, const WorkerGrid& grid) {
    const std::vector<std::string> schedulers = schedulers::names();
    if (tasks >= grid.workers() || placement == partitioners::from_file ||
        std::ranges::find(schedulers, placement) != schedulers.end())
        return;
    throw Error(
        fmt::format("a group has {} tasks, and {} is to make {} parts of them, one for each worker", tasks,
                    placement, grid.workers()),
        "make more and smaller tasks, run on fewer workers, or let schedule.placement name a scheduler, such "
        "as heft, which may leave workers without tasks");
}

/// The flops that a core of the measured speed does in the measured time. Tasks without a time get what they
/// declare, as the others' flops are to what those declare. Empty if nothing was measured.
std::vector<double> measured_work(const dataflow::Recording& recording, const ClusterView& cluster) {
    const auto& measured = recording.measured();
    std::vector<double> work;
    double sum = 0, declared = 0;
    for (std::size_t task = 0; task < measured.size(); ++task) {
        const auto& [time, worker] = measured[task];
        const std::size_t index = std::size_t{worker.node} * cluster.grid.cores + worker.core;
        const double speed = cluster.speeds.empty() ? cluster.core_speed : cluster.speeds[index];
        work.push_back(to_seconds(time) * speed);
        if (time < Time{}) continue;
        sum += work.back();
        declared += recording.tasks()[task].work;
    }
    for (std::size_t task = 0; task < measured.size(); ++task)
        if (measured[task].time < Time{})
            work[task] = declared > 0 ? recording.tasks()[task].work * (sum / declared) : 0;
    return work;
}

}  // namespace

std::optional<dataflow::Placer> group_placer(const ClusterView& cluster, const runtime::Schedule& schedule,
                                             Weights weights) {
    if (schedule.placement == "none") return {};
    ClusterView with_messages = cluster;
    with_messages.bytes_besides = dataflow::Recording::message_bytes_besides;
    with_messages.message_seconds += with_messages.bytes_besides * cluster.seconds_per_byte;
    return [cluster = std::move(with_messages), schedule, weights](const dataflow::Recording& recording) {
        const bool measured = weights == Weights::measured;
        const TaskGraph graph =
            recording.sent_graph(measured ? measured_work(recording, cluster) : std::vector<double>{});
        expect_a_task_for_each_part(schedule.placement, graph.tasks(), cluster.grid);
        const partitioners::GraphToPlace what{
            &graph, recording.written(), recording.data(), {}, schedule.placement_file};
        partitioners::PlacedTasks placed =
            partitioners::place_graph(schedule.placement, what, cluster, schedule.seed);
        dataflow::GroupPlacing placing;
        for (TaskIndex task = 0; task < graph.tasks(); ++task)
            placing.of_task.push_back(placed.placement.of(task));
        placing.sequence = std::move(placed.sequence);
        placing.strict = schedule.stealing.victim == "none";
        placing.promised = placed.makespan;
        return placing;
    };
}

Setting weights_setting() {
    return {"weights",
            SettingKind::choice,
            "declared",
            "measured: the first iteration of a placed group is, and the group is placed again by it",
            {"declared", "measured"}};
}

Weights weights_in(const Settings& settings) {
    return settings.text("weights") == "declared" ? Weights::declared : Weights::measured;
}

Setting recording_setting() {
    return {"recording",
            SettingKind::choice,
            "once",
            "which nodes record the group, if it is placed: node 0, or each",
            {"once", "everywhere"}};
}

dataflow::Recorded recorded_in(const Settings& settings) {
    return settings.text("recording") == "once" ? dataflow::Recorded::once : dataflow::Recorded::everywhere;
}

}  // namespace heddle::workloads
