// The step from a recorded graph to a placing of it: one call of partitioners/.
#include "workloads/group_placing.hpp"

#include "partitioners/place_graph.hpp"

namespace heddle::workloads {

std::optional<dataflow::Placer> group_placer(const ClusterView& cluster, const runtime::Schedule& schedule) {
    if (schedule.placement == "none") return {};
    return [cluster, schedule](const dataflow::Recording& recording) {
        const partitioners::GraphToPlace what{&recording.graph(), recording.written(), recording.data(), {}};
        partitioners::PlacedTasks placed =
            partitioners::place_graph(schedule.placement, what, cluster, schedule.seed);
        dataflow::GroupPlacing placing;
        for (TaskIndex task = 0; task < recording.graph().tasks(); ++task)
            placing.of_task.push_back(placed.placement.of(task));
        placing.sequence = std::move(placed.sequence);
        placing.strict = schedule.stealing.victim == "none";
        return placing;
    };
}

}  // namespace heddle::workloads
