// For tests: placed graphs simulated without overheads, stealing or contention. Each must take exactly what
// its schedule promises. The fast test and the slow one, which has more graphs, share this file.
#pragma once

#include <cmath>

#include "partitioners/place_graph.hpp"
#include "runtime/run/execution.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/scheduler_testing.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::testing_placed {

/// Whole nanoseconds everywhere: a flop is one, a byte is one, and so is the way to the switch or from it.
inline Platform exact_platform(WorkerGrid grid) {
    Platform platform = sim::testing::ideal(grid.nodes, grid.cores);
    platform.network.latency = sim::testing::ns(1);
    platform.network.contention = Network::Contention::none;
    return platform;
}

/// Runs the graph as placed under `name` and holds the run to the promise: makespan to the picosecond, worker
/// and order of every task, bytes between nodes.
inline void expect_as_promised(const std::string& name, const TaskGraph& graph, WorkerGrid grid,
                               std::uint64_t seed) {
    SCOPED_TRACE(name + ", graph " + std::to_string(seed));
    using model::PlacedGraph;
    ClusterView cluster{grid, 1e9, 0, 1e-9};
    cluster.message_seconds = 2e-9 + 1e-9 * PlacedGraph::message_bytes_besides;
    // The diary's data are 4 bytes, not the 8 that this allows for.
    cluster.message_seconds -= 4e-9;
    const auto placed = partitioners::place_graph(name, {&graph}, cluster, seed);
    const PlacedGraph plan(graph, placed.placement, placed.sequence, PlacedGraph::Order::strict,
                           PlacedGraph::Data::declared);
    sim::SimBackend backend(exact_platform(grid));
    Diary diary(graph.tasks());
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution execution(
        backend, schedule, [&](NodeId node) { return std::make_unique<DiaryProgram>(plan, node, diary); });
    const runtime::RunResult result = execution.run();

    EXPECT_EQ(result.makespan.count(), std::llround(placed.makespan_seconds * 1e12));
    EXPECT_GE(placed.makespan_seconds, placed.lower_bound_seconds * (1 - 1e-9));
    EXPECT_EQ(result.total.data_bytes, plan.bytes_between_nodes());
    Time last_end{};
    for (std::size_t worker = 0; worker < grid.workers(); ++worker) {
        last_end = {};
        for (const TaskIndex task : plan.tasks_of(grid.worker(worker))) {
            EXPECT_TRUE(diary[task].times == 1 && diary[task].data_right) << "task " << task;
            EXPECT_EQ(diary[task].worker, grid.worker(worker)) << "task " << task;
            EXPECT_GT(diary[task].end, last_end) << "task " << task;
            last_end = diary[task].end;
        }
    }
}

/// Graphs of several shapes, sizes and communication costs on several machines, under every placement.
inline void expect_all_as_promised(std::uint64_t first, std::uint64_t last) {
    constexpr WorkerGrid grids[] = {{4, 1}, {2, 2}, {1, 3}, {8, 1}, {3, 4}};
    for (std::uint64_t seed = first; seed < last; ++seed) {
        const double ccr = seed % 3 == 0 ? 0.1 : seed % 3 == 1 ? 1 : 5;
        const auto tasks = static_cast<TaskIndex>(10 + seed * 7 % 60);
        const TaskGraph graph =
            schedulers::testing::layered_graph(tasks, 2 + static_cast<TaskIndex>(seed % 6), 1.5, ccr, seed);
        for (const std::string& name : partitioners::placement_names())
            expect_as_promised(name, graph, grids[seed % std::size(grids)], seed);
    }
}

}  // namespace heddle::testing_placed
