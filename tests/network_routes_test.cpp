// Tests the ways between nodes that several networks join, against a breadth-first search over single nodes.
#include "base/network_routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <queue>

#include "base/error.hpp"
#include "base/random.hpp"

namespace heddle {
namespace {

using namespace std::chrono_literals;

JoinedNodes network(std::string name, std::vector<NodeId> members, Time latency = 1us,
                    double bandwidth = 1e9) {
    return {std::move(name), std::move(members), latency, bandwidth};
}

/// Four nodes in a line of three networks.
NetworkRoutes line(const NetworkRoutes::Settings& settings = {}) {
    return {4,
            {network("left", {0, 1}, 1us, 1e9), network("middle", {1, 2}, 2us, 2e9),
             network("right", {2, 3}, 4us, 4e9)},
            settings};
}

bool contains(const std::vector<NodeId>& members, NodeId node) {
    return std::find(members.begin(), members.end(), node) != members.end();
}

/// Hops between two nodes by breadth-first search, node by node; 0 if there is no way. No way passes one of
/// `changing`.
std::uint32_t searched_hops(const std::vector<JoinedNodes>& networks, NodeId nodes, NodeId from, NodeId to,
                            const std::vector<NodeId>& changing = {}) {
    std::vector<std::uint32_t> hops(nodes, 0);
    std::queue<NodeId> next;
    next.push(from);
    while (!next.empty()) {
        const NodeId at = next.front();
        next.pop();
        if (at != from && contains(changing, at)) continue;
        for (const JoinedNodes& joined : networks) {
            if (!contains(joined.members, at)) continue;
            for (const NodeId member : joined.members) {
                if (member == from || hops[member] != 0) continue;
                hops[member] = hops[at] + 1;
                next.push(member);
            }
        }
    }
    return hops[to];
}

TEST(NetworkRoutes, ALineIsPassedHopByHop) {
    const NetworkRoutes routes = line();
    EXPECT_TRUE(routes.joined(0, 1));
    EXPECT_FALSE(routes.joined(0, 2));
    EXPECT_EQ(routes.hops(0, 3), 3U);
    EXPECT_EQ(routes.next(0, 3).to, 1U);
    EXPECT_EQ(routes.next(0, 3).network, 0U);
    EXPECT_EQ(routes.next(1, 3).to, 2U);
    EXPECT_EQ(routes.next(1, 3).network, 1U);
    EXPECT_EQ(routes.next(2, 3).network, 2U);
    EXPECT_EQ(routes.next(3, 0).to, 2U);
}

TEST(NetworkRoutes, AWayAddsLatenciesAndAFragmentForEachGateway) {
    const NetworkRoutes routes = line({.fragment_bytes = 1000});
    const auto figures = [&](NodeId, NodeId, NetworkId network) {
        return RouteTable::Route{routes.networks()[network].latency, routes.networks()[network].bandwidth};
    };
    const NetworkRoutes::Way whole = routes.way(0, 3, figures);
    EXPECT_EQ(whole.route.latency, Time(7us));
    EXPECT_EQ(whole.gateways, Time(500ns) + Time(250ns));
    EXPECT_EQ(whole.route.bandwidth, 1e9);
    EXPECT_EQ(routes.way(2, 3, figures).gateways, Time::zero());
}

TEST(NetworkRoutes, OfTwoNetworksTheFasterForAFragmentIsTaken) {
    const std::vector<JoinedNodes> networks = {network("slow", {0, 1}, 1us, 1e8),
                                               network("fast", {0, 1}, 2us, 1e9)};
    const NetworkRoutes large(2, networks, {.fragment_bytes = 1 << 20});
    EXPECT_EQ(large.between(0, 1), (std::vector<NetworkId>{1, 0}));
    const NetworkRoutes small(2, networks, {.fragment_bytes = 8});
    EXPECT_EQ(small.between(0, 1), (std::vector<NetworkId>{0, 1}));
}

TEST(NetworkRoutes, GatewaysShareTheNodes) {
    // 0 to 3 on the left, 6 to 9 on the right, 4 and 5 on both.
    const NetworkRoutes routes(
        10, {network("left", {0, 1, 2, 3, 4, 5}), network("right", {4, 5, 6, 7, 8, 9})}, {});
    std::vector<int> used(10, 0);
    for (NodeId to = 6; to < 10; ++to) ++used[routes.next(0, to).to];
    EXPECT_EQ(used[4], 2);
    EXPECT_EQ(used[5], 2);
}

TEST(NetworkRoutes, RandomNetworksHaveTheWaysThatASearchFinds) {
    Random random(7);
    int several = 0;
    int refused = 0;
    for (int round = 0; round < 1500; ++round) {
        const auto nodes = static_cast<NodeId>(2 + random.below(12));
        std::vector<JoinedNodes> networks;
        std::vector<bool> member(nodes, false);
        for (std::uint64_t i = 0, count = 1 + random.below(5); i < count; ++i) {
            JoinedNodes joined = network("n", {}, Time(1000) * static_cast<int>(1 + random.below(9)));
            for (NodeId node = 0; node < nodes; ++node)
                if (random.below(3) == 0) joined.members.push_back(node);
            for (const NodeId node : joined.members) member[node] = true;
            networks.push_back(std::move(joined));
        }
        bool connected = std::find(member.begin(), member.end(), false) == member.end();
        for (NodeId to = 1; connected && to < nodes; ++to)
            connected = searched_hops(networks, nodes, 0, to) != 0;
        if (!connected) {
            EXPECT_THROW(NetworkRoutes(nodes, networks, {}), Error);
            continue;
        }
        std::vector<NodeId> changing;
        for (NodeId node = 0; node < nodes; ++node)
            if (round % 2 != 0 && random.below(3) == 0) changing.push_back(node);
        bool stays = true;
        for (NodeId from = 0; from < nodes; ++from)
            for (NodeId to = 0; to < nodes; ++to)
                stays = stays && (from == to || searched_hops(networks, nodes, from, to, changing) != 0);
        if (!stays) {
            EXPECT_THROW(NetworkRoutes(nodes, networks, {}, changing), GatewayChanges);
            ++refused;
            continue;
        }
        const NetworkRoutes routes(nodes, networks, {}, changing);
        for (NodeId from = 0; from < nodes; ++from) {
            for (NodeId to = 0; to < nodes; ++to) {
                if (from == to) continue;
                const std::uint32_t hops = searched_hops(networks, nodes, from, to, changing);
                ASSERT_EQ(routes.hops(from, to), hops);
                several += hops > 2 ? 1 : 0;
                NodeId at = from;
                for (std::uint32_t hop = 0; hop < hops; ++hop) {
                    const auto next = routes.next(at, to);
                    ASSERT_TRUE(contains(networks[next.network].members, at));
                    ASSERT_TRUE(contains(networks[next.network].members, next.to));
                    at = next.to;
                    if (at == to) continue;
                    ASSERT_FALSE(contains(changing, at));
                    ASSERT_TRUE(routes.is_gateway(at));
                }
                ASSERT_EQ(at, to);
            }
        }
    }
    EXPECT_GT(several, 100);
    EXPECT_GT(refused, 10);
}

TEST(NetworkRoutes, ANodeThatChangesIsNoGatewayWhereAnotherStays) {
    const std::vector<JoinedNodes> networks = {network("left", {0, 1, 2, 3}), network("right", {2, 3, 4, 5})};
    const NetworkRoutes routes(6, networks, {}, {3});
    for (NodeId to = 4; to < 6; ++to) EXPECT_EQ(routes.next(0, to).to, 2U);
    EXPECT_TRUE(routes.is_gateway(2));
    EXPECT_FALSE(routes.is_gateway(3));
    EXPECT_FALSE(routes.is_gateway(0));
    EXPECT_EQ(routes.hops(3, 5), 1U);
    try {
        const NetworkRoutes none(6, networks, {}, {2, 3});
        FAIL();
    } catch (const GatewayChanges& error) {
        EXPECT_EQ(error.gateway(), 2U);
        EXPECT_NE(error.message().find("from node 0 to node 4"), std::string::npos) << error.message();
    }
}

TEST(NetworkRoutes, ANodeWithoutNetworkAndPartsWithoutGatewayAreErrors) {
    EXPECT_THROW(NetworkRoutes(3, {network("a", {0, 1})}, {}), Error);
    try {
        const NetworkRoutes routes(4, {network("a", {0, 1}), network("b", {2, 3})}, {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(error.message().find("node 0 and node 2"), std::string::npos) << error.message();
    }
}

}  // namespace
}  // namespace heddle
