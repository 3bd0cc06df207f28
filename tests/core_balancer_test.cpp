// Tests load balancers that move tasks unasked: each task runs once, and all nodes get some without stealing.
#include <gtest/gtest.h>

#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;
using Policy = runtime::Balancing::Policy;

runtime::RunResult run_balanced(Policy policy, const std::string& victim, NodeId nodes, CoreId cores,
                                std::uint64_t seed, Notes& shared) {
    inprocess::InprocessBackend backend({nodes, cores, seed});
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = victim;
    schedule.stealing.amount = runtime::Stealing::Amount::half;
    schedule.balancing = {policy, 4};
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
                    const auto result = run_balanced(policy, victim, nodes, 2, seed, shared);
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
            const auto result = run_balanced(policy, "none", 6, 1, seed, shared);
            for (NodeId node = 0; node < 6; ++node)
                EXPECT_GT(result.nodes.at(node).tasks, 100) << "node " << node << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace heddle
