// Tests clusters that are far from each other, in simulation: the distances that policies see, and
// cluster-aware random stealing over many seeds.
#include <gtest/gtest.h>

#include <memory>

#include "host/thread_crew.hpp"
#include "tests/seeds.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle {
namespace {

using sim::testing::all_of;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Three clusters of 8 nodes x 4 cores; nodes have links of 1 us, and 10 ms lie between two clusters.
Platform three_clusters() {
    Platform platform;
    platform.file = HEDDLE_SOURCE_DIR "/configs/platforms/three_clusters.xml";
    platform.nodes = 24;
    platform.cores = 4;
    return platform;
}

TEST(SimDistances, AreThoseOfThePlatformFile) {
    const sim::SimBackend backend(three_clusters());
    const NodeDistances& distances = backend.topology().distances;
    ASSERT_EQ(distances.groups(), 3U);
    EXPECT_EQ(distances.members(1).front(), 8U);
    EXPECT_EQ(distances.members(1).size(), 8U);
    EXPECT_EQ(distances.latency(3, 5), microseconds(2));
    EXPECT_EQ(distances.latency(3, 13), milliseconds(10) + microseconds(2));
    EXPECT_EQ(distances.latency(23, 0), milliseconds(10) + microseconds(2));
}

TEST(SimDistances, AreExactInAFatTree) {
    Platform platform;
    platform.nodes = 16;
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {4, 2, 2};
    platform.network.cables = {1, 1, 1};
    const sim::SimBackend backend(platform);
    const NodeDistances& distances = backend.topology().distances;
    EXPECT_EQ(distances.groups(), 4U);
    EXPECT_EQ(distances.latency(0, 3), microseconds(2));
    EXPECT_EQ(distances.latency(0, 4), microseconds(4));
    EXPECT_EQ(distances.latency(0, 8), microseconds(6));
}

TEST(SimWideArea, GivesTheAnswerAndReplaysExactly) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    std::uint64_t between_clusters = 0;
    const std::uint64_t seeds = testing_seeds::seeds(100);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "satin";
        const auto once = [&](std::shared_ptr<Crew> threads) {
            return sim::testing::simulate({"uts", {{"tree", "T1"}, {"depth", "5"}, {"unit_cost", "8Mf"}}},
                                          three_clusters(), schedule, {.crew = std::move(threads)});
        };
        const runtime::RunResult first = once({});
        for (const auto& [pair, tasks] : first.steals)
            if (pair.first / 8 != pair.second / 8) between_clusters += tasks;
        if (seed % 10 == 0) {
            EXPECT_EQ(all_of(first), all_of(once({}))) << "seed " << seed;
            EXPECT_EQ(all_of(first), all_of(once(crew))) << "seed " << seed;
        }
    }
    EXPECT_GT(between_clusters, 10 * seeds);
}

// A request that is granted brings one task, so what was granted is counted by other means as tasks stolen.
TEST(SimRequests, ThatAreGrantedAreCountedByDistance) {
    runtime::Schedule schedule;
    schedule.stealing.victim = "random";
    schedule.stealing.amount = runtime::Stealing::Amount::one;
    const runtime::RunResult result = sim::testing::simulate(
        {"uts", {{"tree", "T1"}, {"depth", "6"}, {"unit_cost", "8Mf"}}}, three_clusters(), schedule);
    std::uint64_t far = 0;
    for (const auto& [pair, tasks] : result.steals)
        if (pair.first / 8 != pair.second / 8) far += tasks;
    const runtime::Counters& total = result.total;
    EXPECT_GT(far, 0U);
    EXPECT_EQ(total.far_granted, far);
    EXPECT_EQ(total.requests_granted, total.steals_between_nodes);
    EXPECT_GT(total.far_requests, total.far_granted);
    EXPECT_GT(total.steal_requests - total.far_requests, total.requests_granted - total.far_granted);
    // Two thirds of the other nodes, of which a victim is drawn, are in other clusters: 16 of 23.
    EXPECT_NEAR(static_cast<double>(total.far_requests) / static_cast<double>(total.steal_requests),
                16.0 / 23, 0.05);
    EXPECT_GT(total.steal_attempts - total.steal_requests, total.steals_within_node);
}

}  // namespace
}  // namespace heddle
