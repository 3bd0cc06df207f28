// Tests the distances between nodes: groups with their nodes, and latencies that are exact for trees and
// representative elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/node_distances.hpp"

namespace heddle {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;

TEST(NodeDistances, OneGroupIsEquallyFarApart) {
    const NodeDistances distances(3, microseconds(5));
    EXPECT_EQ(distances.groups(), 1U);
    EXPECT_THAT(distances.members(0), ElementsAre(0, 1, 2));
    EXPECT_EQ(distances.latency(0, 2), microseconds(5));
    EXPECT_EQ(distances.latency(2, 2), Time::zero());
}

TEST(NodeDistances, GroupsAreNumberedByTheirFirstNodesWhateverTheirLabels) {
    const NodeDistances distances({70, 5, 70, 9, 5}, nullptr, Time::zero());
    EXPECT_EQ(distances.groups(), 3U);
    EXPECT_EQ(distances.group(4), 1U);
    EXPECT_THAT(distances.members(0), ElementsAre(0, 2));
    EXPECT_THAT(distances.members(1), ElementsAre(1, 4));
    EXPECT_THAT(distances.members(2), ElementsAre(3));
}

// Every pair of nodes has a latency of its own here.
TEST(NodeDistances, TwoNodesStandForThePairsOfTheirGroups) {
    const auto of_pair = [](NodeId from, NodeId to) { return Time(microseconds(100 * from + to)); };
    const NodeDistances distances({0, 0, 0, 1, 1}, of_pair, microseconds(7));
    EXPECT_EQ(distances.latency(1, 2), microseconds(1));    // as from 0 to 1
    EXPECT_EQ(distances.latency(2, 4), microseconds(3));    // as from 0 to 3
    EXPECT_EQ(distances.latency(4, 1), microseconds(300));  // as from 3 to 0
    EXPECT_EQ(distances.latency(4, 3), microseconds(304));  // as from 3 to 4
}

TEST(NodeDistances, MeansReplaceTheLatenciesOfManyGroups) {
    std::vector<std::uint32_t> labels;
    for (std::uint32_t node = 0; node <= NodeDistances::groups_max; ++node) labels.push_back(node);
    const auto never_asked = [](NodeId, NodeId) -> Time { throw std::logic_error("asked for a latency"); };
    const NodeDistances distances(labels, never_asked, microseconds(7));
    EXPECT_EQ(distances.groups(), NodeDistances::groups_max + 1);
    EXPECT_EQ(distances.latency(0, 1), microseconds(7));
}

TEST(NodeDistances, TreesAreExact) {
    const RouteTable tree = RouteTable::tree(
        8, {2, 4, 8}, {{microseconds(2), 1e9}, {microseconds(4), 1e9}, {microseconds(6), 1e9}});
    const NodeDistances distances({0, 0, 1, 1, 2, 2, 3, 3}, tree);
    EXPECT_EQ(distances.latency(0, 1), microseconds(2));
    EXPECT_EQ(distances.latency(1, 2), microseconds(4));
    EXPECT_EQ(distances.latency(6, 1), microseconds(6));
    EXPECT_EQ(distances.groups(), 4U);
}

}  // namespace
}  // namespace heddle
