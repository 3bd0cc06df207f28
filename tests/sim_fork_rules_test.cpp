// Simulates starts along the tree of workers, and pruning, on larger machines (fork_rules_test.cpp runs them
// natively and in-process).
#include <gtest/gtest.h>

#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

using runtime::Pruning;
using runtime::Schedule;
using runtime::Start;

Platform platform(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e10;
    return platform;
}

TEST(SimStartTree, AloneGivesAllOf16Times4Work) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    // In a tree whose nodes have few children, as in uts, a worker may have too few forks to send.
    for (const std::string name : {"fib", "nqueens", "quadrature", "filament_fib"}) {
        Schedule schedule;
        schedule.start = Start::tree;
        schedule.stealing.victim = "none";
        StatedWorkload stated{name};
        if (name == "fib" || name == "filament_fib") stated.settings = {{"n", "22"}};
        const auto result = simulate(stated, platform(16, 4), schedule);
        ASSERT_EQ(result.workers.size(), 64U);
        for (std::size_t i = 0; i < result.workers.size(); ++i)
            EXPECT_GT(result.workers[i][Activity::working], Time::zero()) << name << ", worker " << i;
        EXPECT_EQ(result.total.steals_between_nodes + result.total.steals_within_node, 0U);
    }
}

TEST(SimStartTree, ShortensTheRun) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    Schedule schedule;
    schedule.stealing.victim = "local_first";
    schedule.stealing.amount = runtime::Stealing::Amount::donation;
    const StatedWorkload fib{"filament_fib", {{"n", "24"}}};
    const auto thieves = simulate(fib, platform(16, 4), schedule);
    schedule.start = Start::tree;
    const auto tree = simulate(fib, platform(16, 4), schedule);
    EXPECT_LT(tree.makespan, thieves.makespan);
}

TEST(SimPruning, MakesAHundredTimesFewerTasks) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    for (const auto policy : {Pruning::Policy::queue_length, Pruning::Policy::node_length}) {
        Schedule schedule;
        schedule.pruning.policy = policy;
        const auto result = simulate({"fib", {{"n", "30"}}}, platform(4, 2), schedule);
        EXPECT_LE(result.total.tasks * 100, 1'346'269U);  // fib(31), as without pruning
        EXPECT_GE(result.total.tasks, 8U);
    }
}

TEST(SimPruning, KeepsAllWorkersBusy) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    Schedule schedule;
    schedule.start = Start::tree;
    schedule.pruning = {Pruning::Policy::queue_length, 2};
    schedule.stealing.amount = runtime::Stealing::Amount::donation;
    const StatedWorkload fib{"filament_fib", {{"n", "40"}, {"cutoff", "20"}, {"subtrees", "declare"}}};
    const auto alone = simulate(fib, platform(1, 1), schedule);
    const auto all = simulate(fib, platform(4, 4), schedule);
    const auto ideal = alone.makespan / 16;
    EXPECT_LT(all.makespan, ideal + ideal / 10);
}

}  // namespace
}  // namespace heddle::sim::testing
