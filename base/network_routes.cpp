// Finds the ways between nodes that are members of different networks: first by the number of hops, then by
// time.
#include "base/network_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace heddle {

GatewayChanges::GatewayChanges(NodeId gateway, NodeId from, NodeId to)
    : Error(fmt::format("messages from node {} to node {} would have to pass node {}, which joins or leaves "
                        "while the run goes on",
                        from, to, gateway),
            "a gateway takes part from the beginning to the end: give it one of the lowest numbers, which "
            "platform.nodes_at_start counts, and no event `member`; or let another node that stays be a "
            "member of both networks"),
      gateway_(gateway) {}

NetworkRoutes::NetworkRoutes(NodeId nodes, std::vector<JoinedNodes> networks, const Settings& settings,
                             const std::vector<NodeId>& changing)
    : settings_(settings), networks_(std::move(networks)) {
    sort_nodes(nodes, changing);
    find_networks();
    find_ways();
    note_gateways();
}

void NetworkRoutes::sort_nodes(NodeId nodes, const std::vector<NodeId>& changing) {
    std::vector<std::vector<NetworkId>> of_node(nodes);
    for (NetworkId network = 0; network < networks_.size(); ++network)
        for (const NodeId member : networks_[network].members) of_node.at(member).push_back(network);
    std::vector<bool> changes(nodes, false);
    for (const NodeId node : changing)
        if (node < nodes) changes[node] = true;
    std::map<std::vector<NetworkId>, Kind> known;
    kind_.reserve(nodes);
    for (NodeId node = 0; node < nodes; ++node) {
        if (of_node[node].empty())
            throw Error(fmt::format("node {} is a member of no network", node),
                        "add it to the members of an entry of platform.networks");
        const auto [kind, is_new] = known.try_emplace(of_node[node], static_cast<Kind>(kinds_.size()));
        if (is_new) {
            kinds_.push_back(of_node[node]);
            members_.emplace_back();
            gateways_.emplace_back();
        }
        kind_.push_back(kind->second);
        members_[kind->second].push_back(node);
        if (!changes[node]) gateways_[kind->second].push_back(node);
    }
}

double NetworkRoutes::seconds_of_fragment(NetworkId network) const {
    const JoinedNodes& joined = networks_[network];
    return to_seconds(joined.latency) + static_cast<double>(settings_.fragment_bytes) / joined.bandwidth;
}

void NetworkRoutes::find_networks() {
    between_.resize(kinds_.size() * kinds_.size());
    for (Kind a = 0; a < kinds_.size(); ++a) {
        for (Kind b = 0; b < kinds_.size(); ++b) {
            std::vector<NetworkId>& both = between_[pair(a, b)];
            std::set_intersection(kinds_[a].begin(), kinds_[a].end(), kinds_[b].begin(), kinds_[b].end(),
                                  std::back_inserter(both));
            std::stable_sort(both.begin(), both.end(), [this](NetworkId x, NetworkId y) {
                return seconds_of_fragment(x) < seconds_of_fragment(y);
            });
        }
    }
}

void NetworkRoutes::find_ways() {
    constexpr auto missing = [](const Step& way) { return way.hops == no_way; };
    const auto pair_of = [this](const std::vector<Step>& ways, const auto& found) {
        const auto place = static_cast<std::size_t>(found - ways.begin());
        return std::pair(static_cast<Kind>(place / kinds_.size()), static_cast<Kind>(place % kinds_.size()));
    };
    const std::vector<Step> over_all = ways_over(members_);
    if (const auto found = std::ranges::find_if(over_all, missing); found != over_all.end()) {
        const auto [a, b] = pair_of(over_all, found);
        throw Error(
            fmt::format("no network joins node {} and node {}, and no chain of gateways connects them",
                        members_[a].front(), members_[b].front()),
            "let a node be a member of a network of each");
    }
    steps_ = ways_over(gateways_);
    const auto found = std::ranges::find_if(steps_, missing);
    if (found == steps_.end()) return;
    const auto [a, b] = pair_of(steps_, found);
    Kind via = over_all[pair(a, b)].next;
    while (!gateways_[via].empty()) via = over_all[pair(via, b)].next;
    throw GatewayChanges(members_[via].front(), members_[a].front(), members_[b].front());
}

/// Invariant: what a way passes is the first hop of its own rest.
void NetworkRoutes::note_gateways() {
    passed_.resize(kind_.size());
    for (const Step& way : steps_)
        if (way.hops > 1)
            for (const NodeId node : gateways_[way.next]) passed_[node] = true;
}

// All pairs by Floyd and Warshall, with lexicographic costs: R. W. Floyd, "Algorithm 97: Shortest path",
// 1962. The way from a kind to itself is the one between two of its nodes, so it is never a part of another
// way.
std::vector<NetworkRoutes::Step> NetworkRoutes::ways_over(const NodesOfKinds& gateways) const {
    std::vector<Step> steps(between_.size(), {no_way, 0, 0});
    const auto count = static_cast<Kind>(kinds_.size());
    for (Kind a = 0; a < count; ++a) {
        for (Kind b = 0; b < count; ++b) {
            const auto& networks = between_[pair(a, b)];
            if (!networks.empty()) steps[pair(a, b)] = {1, seconds_of_fragment(networks.front()), b};
        }
    }
    for (Kind via = 0; via < count; ++via) {
        if (gateways[via].empty()) continue;
        for (Kind a = 0; a < count; ++a) {
            const Step first = steps[pair(a, via)];
            if (first.hops == no_way || a == via) continue;
            for (Kind b = 0; b < count; ++b) {
                const Step& second = steps[pair(via, b)];
                if (second.hops == no_way || b == via || b == a) continue;
                const Step whole{first.hops + second.hops, first.seconds + second.seconds, first.next};
                Step& best = steps[pair(a, b)];
                if (std::pair(whole.hops, whole.seconds) < std::pair(best.hops, best.seconds)) best = whole;
            }
        }
    }
    return steps;
}

NetworkRoutes::Hop NetworkRoutes::next(NodeId from, NodeId to) const {
    const Step& way = step(from, to);
    if (way.hops == 1) return {to, between(from, to).front()};
    const std::vector<NodeId>& gateways = gateways_[way.next];
    return {gateways[to % gateways.size()], between_[pair(kind_[from], way.next)].front()};
}

const std::vector<NetworkId>& NetworkRoutes::between(NodeId from, NodeId to) const {
    return between_[pair(kind_[from], kind_[to])];
}

NetworkRoutes::Way NetworkRoutes::way(NodeId from, NodeId to, const Figures& of_hop) const {
    Way whole;
    for (NodeId at = from; at != to;) {
        const Hop hop = next(at, to);
        const RouteTable::Route joined = of_hop(at, hop.to, hop.network);
        whole.route.latency = checked_sum(whole.route.latency, joined.latency);
        whole.route.bandwidth = std::min(whole.route.bandwidth, joined.bandwidth);
        if (at != from)
            whole.gateways =
                checked_sum(whole.gateways,
                            from_seconds(static_cast<double>(settings_.fragment_bytes) / joined.bandwidth));
        at = hop.to;
    }
    return whole;
}

}  // namespace heddle
