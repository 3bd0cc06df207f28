// Tests what the tasks of placed graphs are charged in simulation, and which worker pays. Each test states
// its formula.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/run/execution.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::testing_placed {
namespace {

using sim::testing::ns;
using sim::testing::us;

Platform platform_of(NodeId nodes, CoreId cores) {
    Platform platform = sim::testing::ideal(nodes, cores);
    platform.overheads.token = ns(10);
    platform.overheads.sync = ns(3);
    platform.overheads.compute = ns(100);
    platform.overheads.placed_task = ns(1000);
    platform.overheads.placed_input = ns(20'000);
    return platform;
}

/// Tasks of a microsecond each: `edges` between them, of no bytes, task i on worker `of_task[i]`.
struct Given {
    std::vector<std::pair<TaskIndex, TaskIndex>> edges;
    std::vector<WorkerId> of_task;
};

Diary simulated(const Platform& platform, const Given& given) {
    TaskGraphBuilder builder;
    for (std::size_t i = 0; i < given.of_task.size(); ++i) builder.add_task(1000);
    for (const auto& [from, to] : given.edges) builder.add_edge(from, to, 0);
    const TaskGraph graph = builder.build();
    std::vector<TaskIndex> sequence(graph.tasks());
    std::iota(sequence.begin(), sequence.end(), TaskIndex{0});
    const model::PlacedGraph plan(graph, {{platform.nodes, platform.cores}, given.of_task}, sequence,
                                  model::PlacedGraph::Order::ready, model::PlacedGraph::Data::declared);
    Diary diary(graph.tasks());
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    sim::SimBackend backend(platform);
    runtime::Execution execution(
        backend, schedule, [&](NodeId node) { return std::make_unique<DiaryProgram>(plan, node, diary); });
    execution.run();
    return diary;
}

// Each task: token + placed_task + compute + its work; each input: sync + placed_input.
TEST(PlacedCosts, EachTaskAndEachInputArePaidForOnce) {
    const Given independent{{}, {{0, 0}, {0, 0}}};
    const Diary apart = simulated(platform_of(1, 1), independent);
    EXPECT_EQ(apart[0].end, ns(10 + 1000 + 100 + 1000));
    EXPECT_EQ(apart[1].end, 2 * apart[0].end);

    const Given two_inputs{{{0, 2}, {1, 2}}, {{0, 0}, {0, 0}, {0, 0}}};
    const Diary joined = simulated(platform_of(1, 1), two_inputs);
    EXPECT_EQ(joined[1].end, 2 * apart[0].end + ns(3));
    EXPECT_EQ(joined[2].end, 3 * apart[0].end + 2 * ns(3 + 20'000));
}

// The worker that makes an input of another one's task pays ready_elsewhere, before the other goes on.
TEST(PlacedCosts, AWorkerPaysForAnInputThatItMakesReadyElsewhere) {
    Platform platform = platform_of(1, 2);
    platform.overheads.ready_elsewhere = us(50);
    const Time each = ns(10 + 1000 + 100 + 1000);
    const Given across{{{0, 1}, {0, 2}}, {{0, 0}, {0, 1}, {0, 0}}};
    const Diary diary = simulated(platform, across);
    const Time handed_over = each + ns(3) + us(50);
    EXPECT_EQ(diary[1].end, handed_over + each + ns(20'000));
    EXPECT_EQ(diary[2].end, handed_over + ns(3) + each + ns(20'000));
}

// Likewise the receiver module, for an input that a message brings.
TEST(PlacedCosts, AReceiverPaysForAnInputThatAMessageBrings) {
    const auto end = [](Time ready_elsewhere) {
        Platform platform = platform_of(2, 1);
        platform.overheads.ready_elsewhere = ready_elsewhere;
        return simulated(platform, {{{0, 1}}, {{0, 0}, {1, 0}}})[1].end;
    };
    EXPECT_EQ(end(us(50)), end(Time::zero()) + us(50));
}

}  // namespace
}  // namespace heddle::testing_placed
