// Algorithms with levels in simulation, with a rank for each thread.
#include <gtest/gtest.h>

#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

double seconds(Operation operation, const std::string& algorithm, RankId root, Index count,
               const Platform& platform) {
    Algorithm named = find_algorithm(operation, "");
    named.name = algorithm;
    const RankId ranks = platform.nodes * platform.cores;
    return timed(named, {operation, ranks, root, count, 4000, true}, platform).seconds;
}

Platform nodes_of(CoreId cores, NodeId nodes, const Star& star) {
    Platform platform = star.platform(nodes);
    platform.cores = cores;
    return platform;
}

// Where memory takes no time: as if each node were one rank.
TEST(SpmdLevelsTime, IsThatOfTheLeadersAlone) {
    struct Pair {
        Operation operation;
        const char* levelled;
        const char* of_one;
    };
    for (const auto& [operation, levelled, of_one] :
         {Pair{Operation::broadcast, "two_level", "binomial"},
          {Operation::reduce, "two_level", "binomial"},
          {Operation::broadcast, "two_level_scatter", "scatter_doubling"},
          {Operation::all_reduce, "two_level", "recursive_doubling"},
          {Operation::all_reduce, "two_level_rabenseifner", "rabenseifner"}}) {
        for (const NodeId nodes : {3U, 8U}) {
            const Index count = nodes * (32U << 10);
            const double each = seconds(operation, of_one, 1, count, nodes_of(1, nodes, bandwidth_counts()));
            EXPECT_NEAR(seconds(operation, levelled, 3, count, nodes_of(3, nodes, bandwidth_counts())) / each,
                        1, 0.01)
                << name_of(operation) << " by " << levelled << " on " << nodes << " nodes";
        }
    }
}

/// 1 Gb/s, and overheads as usual.
Platform slow_network(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.overheads = Overheads::defaults();
    platform.network.bandwidth = 125e6;
    platform.network.latency = std::chrono::microseconds(20);
    complete(platform);
    return platform;
}

// Three ranks a node: in the flat trees of 24 ranks neighbours are on different nodes, and share links. A
// small broadcast has as many latencies in a row either way.
TEST(SpmdLevelsTime, IsLessThanThatOfFlatTreesWhoseNeighboursAreOnOtherNodes) {
    const Platform platform = slow_network(8, 3);
    for (const Index count : {Index{1}, Index{1000}, Index{100'000}}) {
        EXPECT_LT(1.2 * seconds(Operation::all_reduce, "two_level", 0, count, platform),
                  seconds(Operation::all_reduce, "recursive_doubling", 0, count, platform))
            << count;
        if (count == 1) continue;
        EXPECT_LT(1.2 * seconds(Operation::broadcast, "two_level", 1, count, platform),
                  seconds(Operation::broadcast, "binomial", 1, count, platform))
            << count;
    }
}

// Each of the leaders combines a part of the arrays while the others combine theirs.
TEST(SpmdLevelsTime, OfSeveralLeadersIsLessWhereCombiningCounts) {
    Platform platform = slow_network(4, 8);
    platform.network.bandwidth = 12.5e9;
    platform.core_speed = 1e9;
    const Index count = 1 << 17;
    const double one = seconds(Operation::all_reduce, "two_level_rabenseifner", 0, count, platform);
    EXPECT_LT(1.2 * seconds(Operation::all_reduce, "two_level_leaders_4", 0, count, platform), one);
}

// Four nodes at each leaf switch. From root 5 the array passes the upper switch once and then two rounds in
// the group; in the flat tree it passes that switch twice to ranks 0 and 4.
TEST(SpmdLevelsTime, OfNodesTakesTheGroupsOfTheNetwork) {
    Platform platform = slow_network(12, 1);
    platform.network.topology = heddle::Network::Topology::fat_tree;
    platform.network.shape = {4, 3};
    complete(platform);
    EXPECT_LT(1.1 * seconds(Operation::broadcast, "two_level", 5, 8, platform),
              seconds(Operation::broadcast, "binomial", 5, 8, platform));
}

// The ranks of a node share its link, which the prices know.
TEST(SpmdLevelsAuto, IsNearTheBestWhereThreadsAreRanks) {
    const Platform platform = slow_network(4, 3);
    for (const Operation operation :
         {Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::all_gather}) {
        for (const Index count : {Index{1}, Index{1000}, Index{50'000}}) {
            double best = 1e300;
            std::string which;
            for (const Algorithm& algorithm : all_algorithms()) {
                if (algorithm.operation != operation) continue;
                const double each = seconds(operation, algorithm.name, 0, count, platform);
                if (each < best) which = algorithm.name;
                best = std::min(best, each);
            }
            EXPECT_LE(seconds(operation, "auto", 0, count, platform), 1.1 * best)
                << name_of(operation) << " of " << count << ": " << which << " takes less";
        }
    }
}

}  // namespace
}  // namespace heddle::spmd
