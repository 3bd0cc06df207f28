// Tests groups of simulated nodes below one switch, which run ahead of the other nodes while no message can
// reach them. Whole programs are the same event by event as without that (`plain_windows`), with any number
// of threads. The estimate for small messages beside large ones is an exception, stated in docs/simulator.md.
#include <gtest/gtest.h>

#include <memory>

#include "host/thread_crew.hpp"
#include "tests/seeds.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// Nine groups of three nodes. Messages within one take 2 us, others 4 us.
Platform groups_of_three() {
    constexpr NodeId groups = 9;
    Platform platform = ideal(3 * groups, 2);
    platform.core_speed = 1e10;
    platform.network.bandwidth = 12.5e9;
    platform.network.topology = heddle::Network::Topology::fat_tree;
    platform.network.shape = {3, groups};
    platform.network.cables = {1, 3};
    return platform;
}

void expect_the_same(const StatedWorkload& workload, const Platform& platform, bool single) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    static const std::shared_ptr<Crew> crew = std::make_shared<host::ThreadCrew>(2);
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(10); ++seed) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "hierarchical";
        const auto once = [&](bool plain, const std::shared_ptr<Crew>& with) {
            return all_of(
                simulate(workload, platform, schedule,
                         {.single_module = single, .seed = seed, .plain_windows = plain, .crew = with}));
        };
        const auto result = once(false, nullptr);
        EXPECT_EQ(result, once(true, nullptr)) << workload.name << " seed " << seed;
        EXPECT_EQ(result, once(false, crew)) << workload.name << " seed " << seed;
    }
}

// Where operations cost nothing, most of what happens happens at the same time as something else.
TEST(SimGroups, WhereNothingCostsAnythingButWork) {
    for (const bool single : {false, true})
        expect_the_same({"uts", {{"depth", "5"}, {"unit_cost", "10kf"}}}, groups_of_three(), single);
}

TEST(SimGroups, WithOverheadsAndNoise) {
    Platform platform = groups_of_three();
    platform.overheads = Overheads::defaults();
    platform.noise = {.node = 0.05, .task = 0.1};
    for (const bool single : {false, true})
        expect_the_same({"uts", {{"depth", "5"}, {"unit_cost", "10kf"}}}, platform, single);
}

// Tiles are large messages, which SimGrid carries; stops and slow nodes come in between. SimGrid carries
// small messages too here: what it does for them is exact, while the estimate of `contention: full` for small
// messages beside large ones is as old as the window, and a node that goes on has a longer window.
TEST(SimGroups, WithLargeMessagesAndStops) {
    Platform platform = groups_of_three();
    platform.events = {stop(us(12), 3), go_on(us(40), 3), speed(us(10), 0, 0.5)};
    platform.network.contention = heddle::Network::Contention::exact;
    expect_the_same({"cholesky", {{"tiles", "6"}, {"tile_size", "32"}}, "etf"}, platform, false);
    expect_the_same({"uts", {{"depth", "5"}, {"unit_cost", "10kf"}}}, platform, false);
}

// Without large messages there is nothing to estimate.
TEST(SimGroups, WithStopsAndWithoutLargeMessages) {
    Platform platform = groups_of_three();
    platform.events = {stop(us(12), 3), go_on(us(40), 3), speed(us(10), 0, 0.5)};
    platform.network.small_message_bytes = 1 << 20;
    expect_the_same({"cholesky", {{"tiles", "6"}, {"tile_size", "32"}}, "etf"}, platform, false);
    expect_the_same({"uts", {{"depth", "5"}, {"unit_cost", "10kf"}}}, platform, false);
}

}  // namespace
}  // namespace heddle::sim::testing
