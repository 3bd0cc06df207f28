// Runs placed graphs in the in-process world, in many interleavings, under every policy. Each task runs once,
// after its predecessors and with their data, and only messages that the placement needs are sent.
#include <gtest/gtest.h>

#include "partitioners/place_graph.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/scheduler_testing.hpp"

namespace heddle::testing_placed {
namespace {

using model::PlacedGraph;

struct Choice {
    std::string placement;
    std::string victim;
    runtime::Stealing::Amount amount = runtime::Stealing::Amount::one;
    PlacedGraph::Order order = PlacedGraph::Order::ready;
};

runtime::RunResult run(const TaskGraph& graph, WorkerGrid grid, const Choice& choice, std::uint64_t seed,
                       bool gate_open) {
    const auto placed = partitioners::place_graph(choice.placement, {&graph}, {grid, 1, 1, 1}, seed);
    const PlacedGraph plan(graph, placed.placement, placed.sequence, choice.order,
                           PlacedGraph::Data::declared);
    inprocess::Options options;
    options.nodes = grid.nodes;
    options.cores = grid.cores;
    options.seed = seed;
    options.gate_open = gate_open;
    inprocess::InprocessBackend backend(options);
    Diary diary(graph.tasks());
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = choice.victim;
    schedule.stealing.amount = choice.amount;
    if (seed % 3 == 0) schedule.stealing.busy = runtime::Stealing::Busy::wait;
    runtime::Execution execution(
        backend, schedule, [&](NodeId node) { return std::make_unique<DiaryProgram>(plan, node, diary); });
    runtime::RunResult result = execution.run();
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        EXPECT_EQ(diary[task].times, 1U) << "task " << task;
        EXPECT_TRUE(diary[task].data_right) << "task " << task;
        if (choice.victim == "none") {
            EXPECT_EQ(diary[task].worker, placed.placement.of(task));
        }
    }
    if (choice.victim == "none") {
        EXPECT_EQ(result.total.data_bytes, plan.bytes_between_nodes());
    }
    return result;
}

TEST(PlacedGraph, RunsEveryTaskOnceWithItsDataUnderEveryPolicy) {
    for (const auto& policy : runtime::victim_policy_kinds()) {
        for (const auto amount : {runtime::Stealing::Amount::one, runtime::Stealing::Amount::half,
                                  runtime::Stealing::Amount::donation}) {
            for (std::uint64_t seed = 0; seed < 25; ++seed) {
                SCOPED_TRACE(policy.name + ", seed " + std::to_string(seed));
                const TaskGraph graph = schedulers::testing::layered_graph(40, 5, 1.5, 1, seed);
                const char* placement = seed % 3 == 0 ? "none" : seed % 3 == 1 ? "heft" : "cyclic";
                run(graph, {3, 2}, {placement, policy.name, amount}, seed, seed % 2 == 0);
            }
        }
    }
}

/// One worker a node: a task can be stolen before its own worker has woken up for it.
TEST(PlacedGraph, EndsWhereTheLastWaitingTaskIsStolen) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph graph = schedulers::testing::layered_graph(15, 2, 1, 1, seed);
        run(graph, {2, 1}, {"block", "random"}, seed, true);
    }
}

TEST(PlacedGraph, FollowsTheScheduleWhereNothingIsStolen) {
    for (const std::string& name : partitioners::placement_names()) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            SCOPED_TRACE(name + ", seed " + std::to_string(seed));
            const TaskGraph graph = schedulers::testing::layered_graph(50, 6, 1.5, 1, seed);
            for (const auto order : {PlacedGraph::Order::strict, PlacedGraph::Order::ready})
                run(graph, {2, 3}, {name, "none", runtime::Stealing::Amount::one, order}, seed, true);
        }
    }
}

TEST(PlacedGraph, SendsADatumOnceToEachNodeThatNeedsIt) {
    // One task, 10 bytes to four others, two of them on another node; 20 bytes to a fifth there.
    TaskGraphBuilder builder;
    for (int i = 0; i < 6; ++i) builder.add_task(1);
    for (TaskIndex consumer = 1; consumer < 5; ++consumer) builder.add_edge(0, consumer, 10);
    builder.add_edge(0, 5, 20);
    const TaskGraph graph = builder.build();
    const std::vector<TaskIndex> sequence = {0, 1, 2, 3, 4, 5};
    const Placement placement({2, 1}, {{0, 0}, {0, 0}, {0, 0}, {1, 0}, {1, 0}, {1, 0}});
    const PlacedGraph plan(graph, placement, sequence, PlacedGraph::Order::ready,
                           PlacedGraph::Data::declared);
    EXPECT_EQ(plan.bytes_between_nodes(), 10U + 20U);
    EXPECT_EQ(plan.incoming(0).size(), 1U);
    EXPECT_EQ(plan.incoming(1).size(), 2U);
}

TEST(PlacedGraph, EmptyGraphsAndIdleWorkersEnd) {
    const TaskGraph empty = TaskGraphBuilder().build();
    run(empty, {2, 2}, {"none", "random"}, 1, true);
    const TaskGraph one = TaskGraph::independent(1);
    run(one, {4, 2}, {"none", "none"}, 1, true);
}

}  // namespace
}  // namespace heddle::testing_placed
