// Simulates placed programs: spawn trees that were unrolled, and stencils by the graph of their data. Without
// stealing and overheads, they take what the placement promised.
#include <gtest/gtest.h>

#include "partitioners/place_graph.hpp"
#include "sim/sim_backend.hpp"
#include "tests/cli_testing.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using testing_placement::cluster;
using testing_placement::Ran;
using testing_placement::schedule;
using testing_placement::Stated;

Platform platform(NodeId nodes, CoreId cores, bool overheads) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e9;
    if (!overheads) platform.overheads = {};
    return platform;
}

Ran simulate(const Stated& stated, NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
             bool overheads = true) {
    sim::SimBackend backend(platform(nodes, cores, overheads));
    return testing_placement::run(backend, stated, cluster(nodes, cores), schedule);
}

std::vector<Stated> programs() {
    return {{"fib", {{"n", "16"}}},
            {"nqueens", {{"n", "7"}}},
            {"uts", {{"tree", "T1"}, {"depth", "6"}}},
            {"uts", {{"tree", "T3"}, {"branching", "300"}, {"probability", "0.12"}}},
            {"bag", {{"tasks", "200"}, {"task_cost", "1kf"}, {"spread", "1"}}},
            {"dag", {{"graph", "stencil_2d:width=8,height=8,steps=5"}}}};
}

class SimUnrolled : public testing::TestWithParam<std::string> {};

TEST_P(SimUnrolled, GivesTheAnswerUnderEveryStealing) {
    std::uint64_t steals = 0;
    for (const Stated& stated : programs()) {
        for (const char* victim : {"none", "random", "hierarchical"}) {
            const Ran ran = simulate(stated, 4, 2, schedule(GetParam(), victim));
            ASSERT_TRUE(ran.right()) << stated.name << ' ' << victim << ": " << ran.verdict.reason;
            const auto& total = ran.result.total;
            steals += total.steals_within_node + total.steals_between_nodes;
            const Ran again = simulate(stated, 4, 2, schedule(GetParam(), victim));
            EXPECT_EQ(ran.result.makespan, again.result.makespan) << stated.name << ' ' << victim;
            EXPECT_EQ(ran.result.steals, again.result.steals) << stated.name << ' ' << victim;
        }
    }
    EXPECT_GT(steals, 100U);
}

TEST_P(SimUnrolled, SendsBetweenNodesWhatWasPromised) {
    for (const Stated& stated : programs()) {
        const Ran ran = simulate(stated, 4, 2, schedule(GetParam(), "none"));
        if (!ran.forecast.data_bytes) continue;  // bag has no data; no placement, no promise
        EXPECT_EQ(static_cast<double>(ran.result.total.data_bytes), *ran.forecast.data_bytes) << stated.name;
        EXPECT_LE(ran.result.total.data_bytes, ran.result.total.bytes) << stated.name;
    }
}

// Within a node no message takes time, so that the promise is what the workers' own work adds up to, if the
// weights are known (fib) and no worker steals.
TEST_P(SimUnrolled, TakesThePromisedTimeWhereOnlyWorkDoes) {
    if (GetParam() == "none") return;  // not unrolled: nothing is promised
    for (const char* unroll : {"0", "3", "9"}) {
        const Stated fib{"fib", {{"n", "18"}, {"unroll", unroll}}};
        const Ran ran = simulate(fib, 1, 4, schedule(GetParam(), "none"), false);
        ASSERT_TRUE(ran.right()) << ran.verdict.reason;
        EXPECT_NEAR(to_seconds(ran.result.makespan), *ran.forecast.makespan_seconds, 1e-11) << unroll;
    }
}

/// Without the one that searches long; sim_placed_graph_test has it on smaller graphs.
std::vector<std::string> quick_placements() {
    std::vector<std::string> names = partitioners::placement_names();
    std::erase(names, "portfolio");
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, SimUnrolled, testing::ValuesIn(quick_placements()),
                         [](const auto& parameter) { return parameter.param; });

// T1 cut at depth 8 has 257042 nodes of 800 flops (official UTS program; at 1 Gf/s 0.8 us each).
TEST(SimUnrolledTree, PlacementAndStealingTogetherBeatPlacementAlone) {
    const Stated tree{"uts", {{"tree", "T1"}, {"depth", "8"}}};
    const double even = 257042 * 0.8e-6 / (16 * 4);
    const auto makespan = [&](const char* placement, const char* victim) {
        runtime::Schedule chosen = schedule(placement, victim);
        chosen.stealing = {};
        chosen.stealing.victim = victim;
        const Ran ran = simulate(tree, 16, 4, chosen);
        EXPECT_TRUE(ran.right()) << ran.verdict.reason;
        return to_seconds(ran.result.makespan);
    };
    const double placed = makespan("etf", "none"), both = makespan("etf", "hierarchical");
    EXPECT_GT(placed, 1.3 * even);  // no partitioner can know this tree in advance
    EXPECT_LT(both, 0.95 * placed);
    EXPECT_GT(both, even);
}

class SimUnrolledOnOneWorker : public testing_cli::Folder {};

// 64000 tasks begin on one worker and are stolen from there: in this run a worker reaches the depth of
// waiting at which it begins no more of its own tasks. It must then let time pass although they are ready.
TEST_F(SimUnrolledOnOneWorker, AWorkerDeepInWaitingLetsTimePass) {
    const testing_cli::Said said =
        binary("run " HEDDLE_SOURCE_DIR
               "/configs/uts.yaml --json --set workload.depth=9 --set workload.unroll=7"
               " --set platform.nodes=64 --set schedule.placement=serial --set "
               "schedule.stealing.victim=hierarchical");
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.out.find("\"nodes\":1031269"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace heddle
