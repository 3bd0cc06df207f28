// Finds the way of a message if a platform has several networks, each of which joins some of the nodes. The
// way names the networks and the gateways between them. Computes no contention.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "base/platform.hpp"
#include "base/route_table.hpp"
#include "base/time.hpp"

namespace heddle {

/// A network of the platform, in the order of `platform.networks`.
using NetworkId = std::uint32_t;

/// What routes depend on.
struct JoinedNodes {
    std::string name;
    std::vector<NodeId> members;  ///< ascending
    Time latency{};               ///< between two members
    double bandwidth = 0;         ///< bytes per second between two members
};

/// Nodes have no way to each other but over a node that does not take part all the time.
class GatewayChanges : public Error {
public:
    GatewayChanges(NodeId gateway, NodeId from, NodeId to);
    NodeId gateway() const { return gateway_; }

private:
    NodeId gateway_;
};

/// Nodes that are members of the same networks have the same routes, so the memory grows with the sets of
/// networks that occur, not with the pairs of nodes.
class NetworkRoutes {
public:
    using Settings = Gateways;

    /// `changing`: nodes that join late or leave, so that no way passes them. Throws Error for a node of no
    /// network, and for two nodes that no chain of gateways connects; GatewayChanges if one of `changing`
    /// would.
    NetworkRoutes(NodeId nodes, std::vector<JoinedNodes> networks, const Settings& settings,
                  const std::vector<NodeId>& changing = {});

    const Settings& settings() const { return settings_; }
    const std::vector<JoinedNodes>& networks() const { return networks_; }

    /// Whether a network joins the two nodes, which differ.
    bool joined(NodeId from, NodeId to) const { return hops(from, to) == 1; }

    /// How many networks a message passes.
    std::uint32_t hops(NodeId from, NodeId to) const { return step(from, to).hops; }

    struct Hop {
        NodeId to = 0;
        NetworkId network = 0;
    };
    /// Where a message goes first. The way has as few hops as possible; among those it takes the least time
    /// for a fragment. Several gateways to the same networks share the nodes to which messages go. All
    /// gateways on the way agree: `next(next(a, c).to, c)` continues it.
    Hop next(NodeId from, NodeId to) const;

    /// Whether some way passes the node, between two others.
    bool is_gateway(NodeId node) const { return passed_[node]; }

    /// The networks that join both nodes; the fastest for a fragment first.
    const std::vector<NetworkId>& between(NodeId from, NodeId to) const;

    /// The networks of a node, in their order.
    const std::vector<NetworkId>& networks_of(NodeId node) const { return kinds_[kind_[node]]; }

    /// Of one hop over a network.
    using Figures = std::function<RouteTable::Route(NodeId from, NodeId to, NetworkId network)>;

    /// The whole way.
    struct Way {
        RouteTable::Route route;  ///< the sum of the latencies, and the least bandwidth
        Time gateways{};  ///< of a fragment over all hops but the first: a gateway receives it whole first
    };
    Way way(NodeId from, NodeId to, const Figures& of_hop) const;

private:
    using Kind = std::uint32_t;  ///< of a node: which networks it is in

    static constexpr std::uint32_t no_way = ~std::uint32_t{0};
    struct Step {
        std::uint32_t hops = 0;
        double seconds = 0;  ///< of a fragment
        Kind next = 0;       ///< towards which gateways
    };

    using NodesOfKinds = std::vector<std::vector<NodeId>>;

    void sort_nodes(NodeId nodes, const std::vector<NodeId>& changing);
    void find_networks();
    void find_ways();
    std::vector<Step> ways_over(const NodesOfKinds& gateways) const;
    void note_gateways();
    double seconds_of_fragment(NetworkId network) const;
    std::size_t pair(Kind from, Kind to) const { return from * kinds_.size() + to; }
    const Step& step(NodeId from, NodeId to) const { return steps_[pair(kind_[from], kind_[to])]; }

    Settings settings_;
    std::vector<JoinedNodes> networks_;
    std::vector<Kind> kind_;                     ///< of each node
    std::vector<std::vector<NetworkId>> kinds_;  ///< the networks of each kind
    NodesOfKinds members_;
    NodesOfKinds gateways_;                        ///< those of them that ways may pass
    std::vector<bool> passed_;                     ///< by a way, of each node
    std::vector<std::vector<NetworkId>> between_;  ///< of each pair of kinds; empty: none joins them
    std::vector<Step> steps_;                      ///< of each pair of kinds
};

}  // namespace heddle
