// Builds the networks of a cluster, and advances them together.
#include "sim/networks.hpp"

#include <algorithm>
#include <utility>

#include "sim/hosts.hpp"
#include "sim/platform_file.hpp"
#include "sim/platform_memory.hpp"

namespace heddle::sim {

namespace {

Platform hosts_of(const Platform& platform, NetworkId network) {
    Platform own = platform_of(platform, network);
    complete(own);
    return own;
}

}  // namespace

BuiltNetworks::BuiltNetworks(const Platform& platform)
    : platform_(platform), routes_(network_routes(platform)) {
    const PlatformFile file = file_of(platform);
    refuse_large(platform, file);
    if (!routes_) {
        simgrids_.emplace_back(platform_of_hosts(platform), file);
        cards_.emplace_back(static_cast<NodeId>(simgrid().facts().hosts.size()) * platform.processes,
                            platform.processes);
        return;
    }
    for (NetworkId network = 0; network < platform.networks.size(); ++network) {
        simgrids_.emplace_back(hosts_of(platform, network), file);
        cards_.emplace_back(platform.nodes, platform.processes, platform.networks[network].members);
    }
}

std::uint32_t BuiltNetworks::group(NodeId node) {
    if (platform_.processes > 1) return cards().machine(node);
    return several() ? routes_->networks_of(node).front() : simgrid().facts().hosts[node].group;
}

NetworkRoutes::Way BuiltNetworks::way(NodeId from, NodeId to) {
    if (cards().machine(from) == cards().machine(to))
        return {{platform_.shared_memory.latency, platform_.shared_memory.bandwidth}, {}};
    return routes_->way(from, to, [this](NodeId a, NodeId b, NetworkId network) {
        const RouteFacts facts = hop(a, b, network);
        return RouteTable::Route{facts.latency, facts.bandwidth};
    });
}

std::uint32_t BuiltNetworks::links(NodeId from, NodeId to) {
    std::uint32_t sum = 0;
    for (NodeId at = from; at != to;) {
        const NetworkRoutes::Hop next = routes_->next(at, to);
        sum += hop(at, next.to, next.network).links;
        at = next.to;
    }
    return sum;
}

RouteMeans BuiltNetworks::means() {
    if (!several()) return mean_route(simgrid(), platform_);
    const RouteTable::Mean mean = table(Time::zero()).mean();
    return {from_seconds(mean.latency), mean.seconds_per_byte > 0 ? 1 / mean.seconds_per_byte : 0};
}

NodeDistances BuiltNetworks::distances(const std::vector<std::uint32_t>& groups, Time mean) {
    if (several())
        return {groups, [this](NodeId from, NodeId to) { return way(from, to).route.latency; }, mean};
    // Exact where the platform is a tree; elsewhere two nodes stand for the pairs of their groups.
    if (!simgrid().facts().tree.empty() || simgrid().facts().hosts.size() < 2)
        return {groups, route_table(simgrid(), platform_, Time::zero())};
    const auto latency = [this](NodeId from, NodeId to) {
        if (cards().machine(from) == cards().machine(to)) return platform_.shared_memory.latency;
        return simgrid().routes(cards().card(from), cards().card(to), 1).front().latency;
    };
    return {groups, latency, mean};
}

RouteTable BuiltNetworks::table(Time besides) {
    if (!several()) return route_table(simgrid(), platform_, besides);
    return RouteTable::rows(platform_.nodes, [this, besides](NodeId from) {
        std::vector<RouteTable::Route> row(platform_.nodes);
        for (NodeId to = 0; to < platform_.nodes; ++to) {
            if (to == from) continue;
            const NetworkRoutes::Way found = way(from, to);
            row[to] = found.route;
            row[to].latency = checked_sum(row[to].latency, checked_sum(found.gateways, besides));
        }
        return row;
    });
}

Networks::Networks(BuiltNetworks& built, const Platform& platform, Time sending) : built_(built) {
    for (NetworkId network = 0; network < built.count(); ++network) {
        heddle::Network settings = platform.network;
        if (built.several()) settings = platform_of(platform, network).network;
        all_.emplace_back(built.simgrid(network), settings, sending, built.cards(network));
    }
}

// The latency of the way is no less than the least of all networks, so it arrives after the window, as every
// other message does.
void Networks::start(Time departure, Message& message) {
    const Time latency = built_.way(message.from, message.to).route.latency;
    starts_.push_back({checked_sum(departure, latency), &message, message.to});
}

bool Networks::behind(Time now) {
    return std::any_of(all_.begin(), all_.end(), [now](Network& network) { return network.behind(now); });
}

Time Networks::begin_window(Time now) {
    Time end = never;
    for (Network& network : all_) end = std::min(end, network.begin_window(now));
    group_end_ = all_.size() == 1 ? all_.front().group_end() : end;
    return end;
}

// Whatever arrives by one network may make its receiver send by another. So none goes on beyond the first
// time at which something may arrive by any.
void Networks::advance(Time until) {
    if (all_.size() == 1) return all_.front().advance(until);
    for (Network& network : all_) until = std::min(until, network.quiet_until());
    for (Network& network : all_) network.promise(until);
    for (Network& network : all_)
        if (network.quiet_until() <= until || network.behind(until)) network.advance(until);
}

double Networks::doubtful() const {
    double most = 0;
    for (const Network& network : all_) most = std::max(most, network.doubtful());
    return most;
}

bool Networks::instant() const {
    return std::any_of(all_.begin(), all_.end(), [](const Network& network) { return network.instant(); });
}

}  // namespace heddle::sim
