// Takes the figures of each network from its entry and from the network that all share.
#include "base/platform_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace heddle {

namespace {

/// Nodes of one machine use its cards together.
void expect_whole_machines(const PartialNetwork& network, NodeId processes) {
    const std::vector<NodeId>& members = network.members;
    for (std::size_t i = 0; i < members.size(); i += processes) {
        const bool whole = members[i] % processes == 0 && i + processes <= members.size() &&
                           members[i + processes - 1] == members[i] + processes - 1;
        if (whole) continue;
        throw Error(fmt::format("the network {} has a part of the {} nodes of a machine as members",
                                network.name, processes),
                    "state all nodes of a machine, or none");
    }
}

void complete_network(PartialNetwork& network, NodeId nodes, std::set<std::string>& names) {
    const std::string name = "the network " + network.name;
    if (network.name.empty()) throw Error("a network without a name", "add `name: left` to each network");
    if (!names.insert(network.name).second)
        throw Error("two networks are named " + network.name, "give each a name of its own");
    std::vector<NodeId>& members = network.members;
    if (members.empty()) {  // not stated
        members.resize(nodes);
        std::iota(members.begin(), members.end(), NodeId{0});
    }
    std::sort(members.begin(), members.end());
    if (members.size() < 2) throw Error(name + " has fewer than two members", "state them: `members: 0-3`");
    if (std::adjacent_find(members.begin(), members.end()) != members.end())
        throw Error(name + " has a member twice", "state each node once");
    if (members.back() >= nodes)
        throw Error(fmt::format("{} has node {} as a member, but the platform has {} nodes, 0 to {}", name,
                                members.back(), nodes, nodes - 1),
                    "raise platform.nodes, or leave the node out");
}

}  // namespace

Platform platform_of(const Platform& platform, NetworkId network) {
    const PartialNetwork& stated = platform.networks[network];
    Platform own;
    own.nodes = static_cast<NodeId>(stated.members.size()) / platform.processes;
    own.cores = std::max(platform.cores, CoreId{1}) * platform.processes;
    own.core_speed = platform.core_speed;
    own.network = platform.network;
    own.network.topology = stated.topology.value_or(own.network.topology);
    own.network.bandwidth = stated.bandwidth.value_or(own.network.bandwidth);
    own.network.latency = stated.latency.value_or(own.network.latency);
    own.network.gap = stated.gap.value_or(own.network.gap);
    own.network.shape = stated.shape;
    own.network.cables = stated.cables;
    own.where = stated.where;
    return own;
}

void complete_networks(Platform& platform) {
    if (platform.networks.empty()) return;
    if (!platform.file.empty())
        throw Error("platform.networks and platform.file are both stated", "leave one of them out");
    std::set<std::string> names;
    for (NetworkId network = 0; network < platform.networks.size(); ++network) {
        try {
            complete_network(platform.networks[network], platform.nodes, names);
            expect_whole_machines(platform.networks[network], platform.processes);
            if (!platform.link_events.empty())
                throw Error("events of links are stated for a platform of several networks",
                            "state events of nodes only");
        } catch (const Error& error) {
            throw error.at(platform.networks[network].where);
        }
        Platform own = platform_of(platform, network);
        complete(own);
    }
    (void)network_routes(platform);
}

namespace {

/// Nodes that join late, or leave.
std::vector<NodeId> changing_nodes(const Platform& platform) {
    std::vector<NodeId> changing;
    for (NodeId node = platform.beginners(); node < platform.nodes; ++node) changing.push_back(node);
    for (const NodeEvent& event : platform.events)
        if (event.member) changing.push_back(event.node);
    return changing;
}

Location place_of_change(const Platform& platform, NodeId node) {
    const auto event = std::ranges::find_if(
        platform.events, [node](const NodeEvent& one) { return one.member && one.node == node; });
    return event == platform.events.end() ? platform.where : event->where;
}

}  // namespace

std::shared_ptr<const NetworkRoutes> network_routes(const Platform& platform) {
    if (platform.networks.empty()) return nullptr;
    std::vector<JoinedNodes> joined;
    for (NetworkId network = 0; network < platform.networks.size(); ++network) {
        const Platform own = platform_of(platform, network);
        // To the switch, and from it: other topologies have more links on the way, which ways need not know.
        joined.push_back({platform.networks[network].name, platform.networks[network].members,
                          checked_sum(own.network.latency, own.network.latency), own.network.bandwidth});
    }
    try {
        return std::make_shared<NetworkRoutes>(platform.nodes, std::move(joined), platform.gateways,
                                               changing_nodes(platform));
    } catch (const GatewayChanges& error) {
        throw error.at(place_of_change(platform, error.gateway()));
    } catch (const Error& error) {
        throw error.at(platform.where);
    }
}

}  // namespace heddle
