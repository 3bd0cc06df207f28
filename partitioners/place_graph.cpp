// Finds the partitioner or scheduler of a name, calls it, and computes the makespan of the result.
#include "partitioners/place_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "partitioners/graph/owner_computes.hpp"
#include "partitioners/partitioner.hpp"
#include "partitioners/placement_file.hpp"
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::partitioners {

namespace {

template <class Kinds>
bool is_among(const Kinds& kinds, const std::string& name) {
    return std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
}

Placement place_only(const std::string& name, const GraphToPlace& what, const ClusterView& cluster,
                     std::uint64_t seed) {
    if (is_among(all(), name)) return make(name)->place(*what.graph, cluster.grid, cluster.speeds);
    const GraphPartitionerKind& kind = graph_partitioner_named(name);
    Settings settings(kind.settings());
    const std::vector<Setting>& declared = settings.declared();
    if (is_among(declared, "seed")) settings.set("seed", std::to_string(seed));
    return place_by_data(*kind.make(settings), *what.graph, what.writes, what.data, cluster.grid,
                         cluster.speeds);
}

/// No schedule is shorter than `all`, nor than `work` if messages took no time.
struct Bounds {
    double all = 0;
    double work = 0;
};

/// With the makespan if each task runs as early as its worker's order and its data allow.
PlacedTasks promised(const schedulers::Problem& problem, Placement placement, std::vector<TaskIndex> sequence,
                     const Bounds& bounds) {
    std::vector<schedulers::ProcessorIndex> processors;
    processors.reserve(problem.tasks());
    for (TaskIndex task = 0; task < problem.tasks(); ++task) {
        const WorkerId worker = placement.of(task);
        processors.push_back(worker.node * placement.grid().cores + worker.core);
    }
    if (problem.in_picoseconds()) {
        const schedulers::ExactSchedule exact = schedulers::run_exactly(problem, processors, sequence);
        return {std::move(placement), std::move(sequence), exact.schedule.makespan(),
                bounds.all,           bounds.work,         exact.makespan};
    }
    const double makespan = schedulers::run_in_sequence(problem, processors, sequence).makespan();
    return {std::move(placement), std::move(sequence), makespan, bounds.all, bounds.work, {}};
}

std::vector<NamedPlacement> collect() {
    std::vector<NamedPlacement> found;
    const auto add = [&found](const auto& kinds) {
        for (const auto& kind : kinds) {
            if (!is_among(found, kind.name)) found.push_back({kind.name, kind.help});
        }
    };
    add(all());
    add(schedulers::all());
    add(graph_partitioners());
    return found;
}

}  // namespace

const std::vector<NamedPlacement>& placements() {
    static const std::vector<NamedPlacement> found = collect();
    return found;
}

std::vector<std::string> placement_names() {
    std::vector<std::string> names;
    for (const NamedPlacement& placement : placements()) names.push_back(placement.name);
    return names;
}

PlacedTasks place_graph(const std::string& name, const GraphToPlace& what, const ClusterView& cluster,
                        std::uint64_t seed) {
    if (name != from_file && !is_among(placements(), name))
        throw Error(fmt::format("unknown placement \"{}\"", name), nearest_advice(name, placement_names()));
    const schedulers::Problem problem(*what.graph, schedulers::Machine::of_cluster(cluster, what.costs));
    const double work = schedulers::lower_bounds(problem).best();

    if (name == from_file) {
        if (what.file.empty())
            throw Error("placement: file, and no file is named",
                        "state schedule.placement_file: a table of tasks");
        StatedPlacement stated = read_placement(what.file, *what.graph, cluster.grid);
        return promised(problem, std::move(stated.placement), std::move(stated.sequence), {work, work});
    }
    // A name that two families have is the scheduler's, as for `heddle schedule`.
    if (is_among(schedulers::all(), name)) {
        const schedulers::Schedule schedule = schedulers::make(name)->schedule(problem, {seed, {}});
        return promised(problem, schedule.placement(cluster.grid), sequence_of(problem, schedule),
                        {std::max(work, schedule.proved_bound()), work});
    }
    return promised(problem, place_only(name, what, cluster, seed),
                    schedulers::ready_by_priority(problem, schedulers::bottom_levels(problem)), {work, work});
}

}  // namespace heddle::partitioners
