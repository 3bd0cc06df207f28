// Tests load balancers that move tasks unasked: each task runs once, and all nodes get some without stealing.
#include <gtest/gtest.h>

#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using Policy = runtime::Balancing::Policy;

runtime::Schedule balanced(Policy policy, const std::string& victim, std::uint32_t threshold = 4) {
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    schedule.stealing.amount = runtime::Stealing::Amount::half;
    schedule.balancing = {policy, threshold};
    return schedule;
}

runtime::RunResult run_balanced(runtime::Schedule schedule, NodeId nodes, CoreId cores, std::uint64_t seed,
                                Notes& shared) {
    inprocess::InprocessBackend backend({nodes, cores, seed});
    schedule.seed = seed;
    runtime::Execution execution(backend, schedule, [&](NodeId) {
        return std::make_unique<TestProgram>(
            shared, [](Em em) { em.invoke<CountTreeMain>(0); }, false);
    });
    return execution.run();
}

TEST(CoreBalancer, EveryTaskRunsOnceBesideAnyStealing) {
    for (const Policy policy : {Policy::sender, Policy::neighbours}) {
        for (const char* victim : {"none", "random", "lifeline"}) {
            for (const NodeId nodes : {1U, 2U, 5U}) {
                for (std::uint64_t seed = 0; seed < 10; ++seed) {
                    Notes shared;
                    const auto result = run_balanced(balanced(policy, victim), nodes, 2, seed, shared);
                    ASSERT_EQ(shared.total, count_tree_leaves)
                        << victim << ", " << nodes << " nodes, seed " << seed;
                    ASSERT_EQ(unterminated(result), 0);
                }
            }
        }
    }
}

TEST(CoreBalancer, WorkReachesEveryNodeWithoutStealing) {
    for (const Policy policy : {Policy::sender, Policy::neighbours}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            Notes shared;
            const auto result = run_balanced(balanced(policy, "none"), 6, 1, seed, shared);
            for (NodeId node = 0; node < 6; ++node)
                EXPECT_GT(result.nodes.at(node).tasks, 100) << "node " << node << ", seed " << seed;
        }
    }
}

// Of a tree of depth 8 whose tasks make three, at most 17 tasks wait for each of 8 workers, which take the
// latest first.
TEST(CoreBalancer, TasksInTheQueueOfANodeCountOnce) {
    const auto moved = [](std::uint32_t threshold, std::uint64_t seed) {
        Notes shared;
        runtime::Schedule schedule = balanced(Policy::neighbours, "none", threshold);
        schedule.token_queue = runtime::TokenQueues::node;
        const auto result = run_balanced(schedule, 2, 8, seed, shared);
        EXPECT_EQ(shared.total, count_tree_leaves);
        return result.nodes.at(0).steals_between_nodes + result.nodes.at(1).steals_between_nodes;
    };
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        EXPECT_EQ(moved(180, seed), 0U) << "seed " << seed;
        EXPECT_GT(moved(8, seed), 0U) << "seed " << seed;
    }
}

}  // namespace
}  // namespace heddle
