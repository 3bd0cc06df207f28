// All networks of a simulated cluster. BuiltNetworks starts a SimGrid process for each, and answers which
// network cards and routes the nodes have. Networks computes when each message arrives, whatever network it
// takes.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/node_distances.hpp"
#include "base/platform.hpp"
#include "base/platform_networks.hpp"
#include "base/route_table.hpp"
#include "sim/cards.hpp"
#include "sim/network.hpp"
#include "sim/platform_summary.hpp"
#include "sim/simgrid_process.hpp"

namespace heddle::sim {

/// One network that joins all machines, or several.
class BuiltNetworks {
public:
    /// Reads the platform's file, if it has one, and starts a process of SimGrid for each network. `platform`
    /// is complete, and outlives this. Throws Error, also for one that does not fit into memory.
    explicit BuiltNetworks(const Platform& platform);

    bool several() const { return routes_ != nullptr; }
    NetworkId count() const { return static_cast<NetworkId>(simgrids_.size()); }
    SimgridProcess& simgrid(NetworkId network = 0) { return simgrids_[network]; }
    const SimgridProcess& simgrid(NetworkId network = 0) const { return simgrids_[network]; }
    const Cards& cards(NetworkId network = 0) const { return cards_[network]; }
    /// Null where one network joins all machines.
    const std::shared_ptr<const NetworkRoutes>& routes() const { return routes_; }

    // Asked when the platform's counts are filled in.
    /// Nodes of one group are near each other: of one machine if it has several, else of one group of the
    /// network or, of several, of the first network that they are in.
    std::uint32_t group(NodeId node);
    RouteMeans means();
    NodeDistances distances(const std::vector<std::uint32_t>& groups, Time mean);
    /// As messages feel them at first; over gateways also with the time that a fragment takes there.
    /// `besides` is added to every latency.
    RouteTable table(Time besides);
    /// Where several networks join the nodes: one way, if a message has the networks to itself.
    NetworkRoutes::Way way(NodeId from, NodeId to);
    std::uint32_t links(NodeId from, NodeId to);

private:
    RouteFacts hop(NodeId from, NodeId to, NetworkId network) {
        return simgrid(network).routes(cards(network).card(from), cards(network).card(to), 1).front();
    }

    const Platform& platform_;
    std::shared_ptr<const NetworkRoutes> routes_;
    std::deque<SimgridProcess> simgrids_;
    std::vector<Cards> cards_;
};

/// Network's operations for all networks: each message says which one it takes.
class Networks {
public:
    /// `sending`: as of Network. `built` outlives this.
    Networks(BuiltNetworks& built, const Platform& platform, Time sending);

    NetworkId count() const { return static_cast<NetworkId>(all_.size()); }

    void send(Time departure, Message& message) {
        if (message.network == no_network) return start(departure, message);
        all_[message.network].send(departure, message);
    }

    template <class Visit>
    void take_known(const Visit& visit) {
        for (Network& network : all_) {
            for (const Arrival& arrival : network.known()) visit(arrival);
            network.forget_known();
        }
        for (const Arrival& arrival : starts_) visit(arrival);
        starts_.clear();
    }
    bool behind(Time now);
    Time begin_window(Time now);
    void advance(Time until);
    double doubtful() const;
    bool instant() const;

    /// Zero where there are several networks.
    MachineId group_machines() const { return all_.size() == 1 ? all_.front().group_machines() : 0; }
    Time group_end() const { return group_end_; }
    template <class Visit>
    void expecting(const Visit& visit) const {
        all_.front().expecting(visit);
    }

private:
    void start(Time departure, Message& message);

    BuiltNetworks& built_;
    std::deque<Network> all_;
    std::vector<Arrival> starts_;  ///< of messages over no network; as Network::known
    Time group_end_{};
};

}  // namespace heddle::sim
