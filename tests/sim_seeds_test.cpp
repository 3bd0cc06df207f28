// Tests that simulations with one seed are equal, and that different seeds give different runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "host/thread_crew.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle {
namespace {

using sim::testing::all_of;

Platform fat_tree(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.network.topology = Network::Topology::fat_tree;
    return platform;
}

runtime::RunResult simulate(const sim::testing::StatedWorkload& stated, const Platform& platform,
                            const std::string& victim, std::uint64_t seed, std::shared_ptr<Crew> crew = {}) {
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = victim;
    return sim::testing::simulate(stated, platform, schedule, {.crew = std::move(crew)});
}

// 92 solutions: OEIS A000170.
TEST(SimSeeds, HundredSeedsGiveOneAnswerAndManyMakespans) {
    std::set<Time> makespans;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto result = simulate({"nqueens", {{"n", "8"}}}, fat_tree(8, 4), "hierarchical", seed);
        ASSERT_EQ(result.answer.at(0).value, 92) << "seed " << seed;
        ASSERT_EQ(result.total.tasks, 2057) << "seed " << seed;
        makespans.insert(result.makespan);
    }
    EXPECT_GE(makespans.size(), 90);
}

class SimSeeds : public testing::TestWithParam<std::string> {};

TEST_P(SimSeeds, OneSeedReplaysExactly) {
    const auto once = [&](std::uint64_t seed) {
        return all_of(simulate({"uts", {{"tree", "T1"}, {"depth", "6"}}}, fat_tree(16, 4), GetParam(), seed));
    };
    const auto first = once(7);
    EXPECT_EQ(first, once(7));
    if (GetParam() != "none") {
        EXPECT_NE(first, once(8));
    }
}

INSTANTIATE_TEST_SUITE_P(All, SimSeeds, testing::ValuesIn(runtime::victim_policies()),
                         [](const auto& parameter) { return parameter.param; });

// Small and large messages, stealing, placed graphs: however many threads simulate, and whatever they happen
// to do first.
TEST(SimThreads, FiftySeedsGiveTheSameWithAnyNumberOfThreads) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const std::vector<std::shared_ptr<Crew>> crews = {std::make_shared<host::ThreadCrew>(2),
                                                      std::make_shared<host::ThreadCrew>(3)};
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const std::string victim = runtime::victim_policies()[seed % runtime::victim_policies().size()];
        const auto search = [&](const std::shared_ptr<Crew>& crew) {
            return all_of(
                simulate({"uts", {{"tree", "T1"}, {"depth", "5"}}}, fat_tree(12, 3), victim, seed, crew));
        };
        const auto graph = [&](const std::shared_ptr<Crew>& crew) {
            return all_of(
                simulate({"cholesky", {{"tiles", "6"}, {"tile_size", "32"}}, seed % 2 == 0 ? "metis" : "etf"},
                         fat_tree(5, 2), victim, seed, crew));
        };
        const auto one_search = search(nullptr);
        const auto one_graph = graph(nullptr);
        for (const auto& crew : crews) {
            ASSERT_EQ(one_search, search(crew)) << "seed " << seed << ", " << crew->size() << " threads";
            ASSERT_EQ(one_graph, graph(crew)) << "seed " << seed << ", " << crew->size() << " threads";
        }
    }
}

TEST(SimThreads, AnErrorIsThatOfTheFirstNodeWhoeverFindsItFirst) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    // Every node's deque overflows.
    const auto error_of = [](std::shared_ptr<Crew> crew) -> std::string {
        Platform platform;
        platform.nodes = 8;
        platform.cores = 2;
        runtime::Schedule schedule;
        schedule.deque_slots = 8;
        try {
            sim::testing::simulate({"uts", {{"depth", "8"}}, "cyclic"}, platform, schedule,
                                   {.crew = std::move(crew)});
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    };
    const std::string expected = error_of(nullptr);
    EXPECT_THAT(expected, testing::HasSubstr("deque is full"));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(error_of(std::make_shared<host::ThreadCrew>(2)), expected);
}

TEST(SimSeeds, EveryTaskIsStolenByTheThiefThatTheMatrixNames) {
    const auto result = simulate({"nqueens", {{"n", "9"}}}, fat_tree(8, 2), "random", 3);
    std::uint64_t sum = 0;
    for (const auto& [pair, tasks] : result.steals) {
        EXPECT_NE(pair.first, pair.second);
        EXPECT_LT(pair.first, 8);
        EXPECT_LT(pair.second, 8);
        sum += tasks;
    }
    EXPECT_EQ(sum, result.total.steals_between_nodes);
    EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace heddle
