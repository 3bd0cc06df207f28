// Tests latency and bandwidth between nodes: the compact tables agree with a table of all pairs.
#include "base/route_table.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace heddle {
namespace {

using Route = RouteTable::Route;

const std::vector<Route> kinds = {{Time(1000), 4e9}, {Time(3000), 2e9}, {Time(90000), 1e9}};

/// Two nodes a switch, three switches a rack: what a tree says of a pair, worked out from its definition.
const Route& in_tree(NodeId a, NodeId b) {
    return kinds[a / 2 == b / 2 ? 0 : a / 6 == b / 6 ? 1 : 2];
}

RouteTable by_rows(NodeId nodes, int* fetched = nullptr) {
    return RouteTable::rows(nodes, [nodes, fetched](NodeId from) {
        std::vector<Route> row;
        for (NodeId to = 0; to < nodes; ++to) row.push_back(in_tree(from, to));
        if (fetched) ++*fetched;
        return row;
    });
}

TEST(RouteTable, ATreeSaysOfEveryPairWhatATableOfPairsSays) {
    for (const NodeId nodes : {2U, 3U, 6U, 7U, 11U, 12U}) {
        const RouteTable tree = RouteTable::tree(nodes, {2, 6, 12}, kinds), rows = by_rows(nodes);
        double latency = 0, byte = 0, pairs = 0;
        for (NodeId a = 0; a < nodes; ++a) {
            for (NodeId b = 0; b < nodes; ++b) {
                if (a == b) continue;
                EXPECT_EQ(tree.between(a, b).latency, in_tree(a, b).latency);
                EXPECT_EQ(rows.between(a, b).bandwidth, in_tree(a, b).bandwidth);
                latency += to_seconds(in_tree(a, b).latency);
                byte += 1 / in_tree(a, b).bandwidth;
                ++pairs;
            }
        }
        for (const RouteTable& table :
             {tree, rows, RouteTable::of(tree.plain()), RouteTable::of(rows.plain())}) {
            EXPECT_NEAR(table.mean().latency, latency / pairs, 1e-20) << nodes;
            EXPECT_NEAR(table.mean().seconds_per_byte, byte / pairs, 1e-20) << nodes;
            EXPECT_EQ(table.uniform(), nodes == 2) << nodes;
            EXPECT_DOUBLE_EQ(table.bounds().least.latency, 1e-9);
            EXPECT_DOUBLE_EQ(table.bounds().most.latency, to_seconds(nodes > 6   ? kinds[2].latency
                                                                     : nodes > 2 ? kinds[1].latency
                                                                                 : kinds[0].latency));
        }
    }
}

TEST(RouteTable, RangesOfEqualRoutesHoldEqualRoutesAndAreFew) {
    const NodeId nodes = 23;
    const RouteTable tree = RouteTable::tree(nodes, {2, 6, 24}, kinds), rows = by_rows(nodes);
    for (const RouteTable* const table : {&tree, &rows}) {
        for (NodeId a = 0; a < nodes; ++a) {
            int ranges = 0;
            for (NodeId b = 0; b < nodes; ++ranges) {
                if (b == a) ++b;
                if (b == nodes) break;
                const NodeId until = table->same_until(a, b);
                ASSERT_GT(until, b);
                ASSERT_LE(until, nodes);
                for (NodeId c = b; c < until; ++c) {
                    if (c != a) {
                        EXPECT_EQ(table->between(a, c).latency, table->between(a, b).latency);
                    }
                }
                b = until;
            }
            EXPECT_LE(ranges, 7) << a;  // three levels on both sides of the node
        }
    }
    EXPECT_EQ(RouteTable::equal(kinds[0]).same_until(0, 1), 2U);
}

TEST(RouteTable, LargeNetworksAreAskedForTheRowsThatAreNeeded) {
    int fetched = 0;
    const RouteTable rows = by_rows(1000, &fetched);
    EXPECT_EQ(fetched, 0);
    EXPECT_EQ(rows.between(7, 6).latency, kinds[0].latency);
    EXPECT_EQ(rows.between(7, 999).latency, kinds[2].latency);
    EXPECT_EQ(fetched, 1);
    EXPECT_FALSE(rows.uniform());
    EXPECT_EQ(rows.bounds().least.latency, 0);  // not all pairs are known
    EXPECT_GT(rows.mean().latency, to_seconds(kinds[1].latency));
    EXPECT_LT(fetched, 20);
}

TEST(RouteTable, AMessageTakesLatencyAndItsBytesRoundedOnce) {
    // 1000 bytes at 3 GB/s: 333,333.33 ps.
    EXPECT_EQ((Route{Time(5), 3e9}).of(1000), Time(333338));
    EXPECT_EQ(RouteTable::equal({Time(5), 3e9}).between(3, 9).of(0), Time(5));
    EXPECT_THROW((Route{Time(5), 1e-9}).of(1000), Error);
}

TEST(RouteTable, TablesThatDoNotFitAreRefused) {
    EXPECT_THROW(RouteTable::of({3, kinds, {2, 6}, {}}), Error);
    EXPECT_THROW(RouteTable::of({3, kinds, {6, 2, 12}, {}}), Error);
    EXPECT_THROW(RouteTable::of({3, kinds, {}, {{0, 0, 0}, {0, 0, 0}}}), Error);
    EXPECT_THROW(RouteTable::of({2, kinds, {}, {{0, 3}, {0, 0}}}), Error);
    EXPECT_THROW(RouteTable::of({2, {{Time(1), 0}}, {2}, {}}), Error);
}

}  // namespace
}  // namespace heddle
