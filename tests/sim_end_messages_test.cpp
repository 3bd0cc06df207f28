// Counts the messages that the detection of the end costs: while data are under way and nothing else changes,
// no node sends any. The graphs are two tasks, and a graph like the workflow Montage.
#include <gtest/gtest.h>

#include "base/task_graph.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "tests/placed_graph_testing.hpp"

namespace heddle::testing_placed {
namespace {

std::uint64_t messages(const TaskGraph& graph, const std::string& placement) {
    Platform platform;
    platform.nodes = 16;
    platform.cores = 1;
    platform.core_speed = 1e9;
    platform.network.bandwidth = 125e6;
    platform.network.latency = std::chrono::microseconds(10);
    const WorkerGrid grid{platform.nodes, platform.cores};
    const auto placed = partitioners::place_graph(placement, {&graph}, {grid, 1e9, 2e-5, 8e-9}, 1);
    const model::PlacedGraph plan(graph, placed.placement, placed.sequence, model::PlacedGraph::Order::strict,
                                  model::PlacedGraph::Data::declared);
    sim::SimBackend backend(platform, {});
    Diary diary(graph.tasks());
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution execution(
        backend, schedule, [&](NodeId node) { return std::make_unique<DiaryProgram>(plan, node, diary); });
    const runtime::RunResult result = execution.run();
    for (TaskIndex task = 0; task < graph.tasks(); ++task) EXPECT_EQ(diary[task].times, 1U);
    return result.total.messages;
}

TEST(EndMessages, AreFewWhileLargeDataAreUnderWay) {
    TaskGraphBuilder builder;
    builder.add_task(1e9);
    builder.add_task(1e9);
    builder.add_edge(0, 1, 10e9);
    EXPECT_LT(messages(builder.build(), "cyclic"), 200U);
}

/// Projections, differences of overlapping ones, a fit over all, corrections, a mosaic (Bharathi et al.,
/// "Characterization of scientific workflows", WORKS 2008, figure 1).
TEST(EndMessages, OfAWorkflowAreInProportionToItsEdges) {
    constexpr TaskIndex width = 15;
    TaskGraphBuilder builder;
    std::uint64_t edges = 0;
    const auto edge = [&](TaskIndex from, TaskIndex to) {
        builder.add_edge(from, to, 40e6);
        ++edges;
    };
    for (TaskIndex i = 0; i < 3 * width + 2; ++i) builder.add_task(13e9);
    const TaskIndex fit = 2 * width, mosaic = 3 * width + 1;
    for (TaskIndex i = 0; i < width; ++i) {
        edge(i, width + i);
        edge((i + 1) % width, width + i);
        edge(width + i, fit);
        edge(fit, fit + 1 + i);
        edge(fit + 1 + i, mosaic);
    }
    EXPECT_LT(messages(builder.build(), "heft"), 20 * edges);
}

}  // namespace
}  // namespace heddle::testing_placed
