// For tests: nodes that several networks join, in a line, or drawn at random.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/network_routes.hpp"
#include "base/random.hpp"

namespace heddle::testing_networks {

/// A chain of networks, each of which shares a node with the next: these are gateways. Sometimes two networks
/// join the same nodes, sometimes one joins all.
inline std::vector<JoinedNodes> draw_chain(Random& random, NodeId nodes) {
    std::vector<JoinedNodes> networks;
    const auto add = [&](NodeId first, NodeId last) {
        JoinedNodes joined{"network " + std::to_string(networks.size()), {}, {}, 1e9};
        for (NodeId node = first; node <= last; ++node) joined.members.push_back(node);
        joined.latency = Time(1000) * static_cast<int>(1 + random.below(5));
        joined.bandwidth = 1e8 * static_cast<double>(1 + random.below(20));
        networks.push_back(std::move(joined));
    };
    NodeId first = 0;
    do {
        const NodeId last = std::min<NodeId>(nodes - 1, first + 1 + static_cast<NodeId>(random.below(3)));
        add(first, last);
        if (random.below(3) == 0) add(first, last);
        first = last;
    } while (first + 1 < nodes);
    return networks;
}

inline NetworkRoutes::Settings draw_gateways(Random& random) {
    NetworkRoutes::Settings settings;
    settings.fragment_bytes = 16 + random.below(300);
    settings.window_bytes = settings.fragment_bytes * (1 + random.below(8));
    settings.all_rails = random.below(2) == 0;
    return settings;
}

inline std::shared_ptr<const NetworkRoutes> draw_networks(Random random, NodeId nodes) {
    std::vector<JoinedNodes> networks = draw_chain(random, nodes);
    return std::make_shared<NetworkRoutes>(nodes, std::move(networks), draw_gateways(random));
}

/// Nodes 0 to `first` - 1 are a chain, in which any node may leave that others can do without. Each of the
/// rest joins, and is a member of one network or of two.
inline std::shared_ptr<const NetworkRoutes> draw_changing_networks(Random random, NodeId first,
                                                                   NodeId nodes) {
    std::vector<JoinedNodes> networks = draw_chain(random, first);
    std::vector<NodeId> changing;
    for (NodeId node = first; node < nodes; ++node) {
        const auto network = static_cast<std::size_t>(random.below(networks.size()));
        const auto other = static_cast<std::size_t>(random.below(networks.size()));
        networks[network].members.push_back(node);
        if (other != network && random.below(2) == 0) networks[other].members.push_back(node);
        changing.push_back(node);
    }
    const NetworkRoutes::Settings settings = draw_gateways(random);
    for (NodeId node = 1; node < first; ++node) {
        changing.push_back(node);
        try {
            (void)NetworkRoutes(nodes, networks, settings, changing);
        } catch (const GatewayChanges&) {
            changing.pop_back();
        }
    }
    return std::make_shared<NetworkRoutes>(nodes, std::move(networks), settings, changing);
}

/// Node i and node i + 1 share a network, and no other two nodes do.
inline std::shared_ptr<const NetworkRoutes> line_of_networks(NodeId nodes,
                                                             NetworkRoutes::Settings settings = {}) {
    std::vector<JoinedNodes> networks;
    for (NodeId node = 0; node + 1 < nodes; ++node)
        networks.push_back(
            {"network " + std::to_string(node), {node, node + 1}, std::chrono::microseconds(1), 1e9});
    if (networks.empty()) networks.push_back({"network 0", {0}, {}, 1e9});
    return std::make_shared<NetworkRoutes>(nodes, std::move(networks), settings);
}

}  // namespace heddle::testing_networks
