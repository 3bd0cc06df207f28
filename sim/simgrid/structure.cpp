// Groups hosts by the zones of a platform file into classes with equal routes, and checks samples against
// SimGrid.
#include "sim/simgrid/structure.hpp"

#include <algorithm>
#include <map>
#include <simgrid/kernel/routing/StarZone.hpp>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <utility>

namespace heddle::sim {

namespace s4u = simgrid::s4u;

namespace {

using Hosts = std::vector<s4u::Host*>;
using Links = std::vector<s4u::Link*>;

/// With more, asking for each pair of classes is no better than asking for each pair of nodes.
constexpr std::size_t classes_max = 1000;

/// What of a link matters for a route; and which link it is, where many hosts of the zone use it.
using LinkSign = std::tuple<double, double, s4u::Link::SharingPolicy, const s4u::Link*>;
/// What tells the classes of a zone's hosts apart: links of some routes.
using Sign = std::vector<std::vector<LinkSign>>;

Links links_between(const s4u::Host& from, const s4u::Host& to) {
    Links links;
    double ignored = 0;
    from.route_to(&to, links, &ignored);
    return links;
}

/// The hosts of one zone.
class ZoneHosts {
public:
    ZoneHosts(const Hosts& hosts, std::vector<NodeId> nodes) : hosts_(hosts), nodes_(std::move(nodes)) {
        const auto* zone = hosts[nodes_.front()]->get_englobing_zone()->get_impl();
        const bool star = dynamic_cast<const simgrid::kernel::routing::StarZone*>(zone) != nullptr;
        constexpr std::size_t few = 3;
        alike_ = star && nodes_.size() > few;
        if (!alike_) return;
        for (const NodeId node : nodes_) {
            for (const s4u::Link* link : links_between(*hosts_[node], fixed(node, 0))) ++uses_[link];
            for (const s4u::Link* link : links_between(fixed(node, 0), *hosts_[node])) ++uses_[link];
        }
    }
    const std::vector<NodeId>& nodes() const { return nodes_; }

    /// Of a star. All hosts of another zone are classes of their own.
    bool alike() const { return alike_; }

    /// The links from a host to two others of the zone; or, backwards, from these to the host.
    Sign sign(NodeId node, bool backwards) const {
        Sign sign;
        for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
            const s4u::Host& other = fixed(node, which);
            const s4u::Host& own = *hosts_[node];
            auto& links = sign.emplace_back();
            for (const s4u::Link* link : backwards ? links_between(other, own) : links_between(own, other)) {
                const bool common = uses_.at(link) > 2;
                links.emplace_back(link->get_latency(), link->get_bandwidth(), link->get_sharing_policy(),
                                   common ? link : nullptr);
            }
        }
        return sign;
    }

private:
    /// One of two others of the zone, the same two for nearly all.
    const s4u::Host& fixed(NodeId node, std::size_t which) const {
        std::size_t place = 0;
        for (std::size_t passed = 0; nodes_[place] == node || passed++ < which;) ++place;
        return *hosts_[nodes_[place]];
    }

    const Hosts& hosts_;
    std::vector<NodeId> nodes_;
    bool alike_ = false;
    std::map<const s4u::Link*, std::uint32_t> uses_;  ///< never iterated over
};

/// Zones in the order of their first hosts.
std::vector<ZoneHosts> zones_of(const Hosts& hosts) {
    std::map<const s4u::NetZone*, std::size_t> places;  // never iterated over
    std::vector<std::vector<NodeId>> nodes;
    for (NodeId node = 0; node < hosts.size(); ++node) {
        const auto [place, is_new] = places.try_emplace(hosts[node]->get_englobing_zone(), nodes.size());
        if (is_new) nodes.emplace_back();
        nodes[place->second].push_back(node);
    }
    std::vector<ZoneHosts> zones;
    for (std::vector<NodeId>& of_zone : nodes) zones.emplace_back(hosts, std::move(of_zone));
    return zones;
}

/// Hosts of a star are of one class if their links to it, and from it, are alike: a route to or from
/// elsewhere goes over the same links.
RouteStructure find_classes(const Hosts& hosts) {
    RouteStructure structure{RouteStructure::Kind::classes, {}, {}, {}};
    std::uint32_t classes = 0;
    for (const bool backwards : {false, true}) {
        auto& class_of = backwards ? structure.in_class : structure.out_class;
        class_of.resize(hosts.size());
        for (const ZoneHosts& zone : zones_of(hosts)) {
            std::map<Sign, std::uint32_t> known;  // never iterated over
            for (const NodeId node : zone.nodes()) {
                if (classes > classes_max) return {};
                class_of[node] = zone.alike()
                                     ? known.try_emplace(zone.sign(node, backwards), classes).first->second
                                     : classes;
                if (class_of[node] == classes) ++classes;
            }
        }
    }
    return structure;
}

/// Compares what a structure says of all pairs of some nodes with SimGrid's own routes.
bool holds(const RouteStructure& structure, NodeId nodes,
           const std::function<RouteFacts(NodeId, NodeId)>& route) {
    constexpr NodeId samples = 40;
    std::vector<NodeId> some;
    // Every second one from the beginning, where neighbours are, the others from everywhere.
    for (NodeId i = 0; i < std::min(samples, nodes); ++i) {
        const bool all = nodes <= samples;
        some.push_back(all || i % 2 == 0 ? i : static_cast<NodeId>(std::uint64_t{i} * nodes / samples));
    }
    std::map<std::uint64_t, std::tuple<Time, double, std::uint32_t, std::uint32_t>> kinds;
    std::map<std::pair<NodeId, std::uint32_t>, std::uint32_t> firsts;
    std::map<std::pair<NodeId, std::uint32_t>, std::uint32_t> lasts;
    for (const NodeId from : some) {
        for (const NodeId to : some) {
            if (from == to) continue;
            const RouteKeys keys = structure.keys(from, to);
            const RouteFacts found = route(from, to);
            const std::tuple kind(found.latency, found.bandwidth, found.links, found.shared);
            if (kinds.try_emplace(keys.kind, kind).first->second != kind) return false;
            if (found.shared == 0) continue;
            const std::uint32_t first = found.first.number;
            const std::uint32_t last = found.last.number;
            if (firsts.try_emplace({from, keys.first}, first).first->second != first) return false;
            if (lasts.try_emplace({to, keys.last}, last).first->second != last) return false;
        }
    }
    return true;
}

}  // namespace

RouteStructure find_structure(const Platform& platform, const RouteStructure& regular, const Hosts& hosts,
                              const std::function<RouteFacts(NodeId, NodeId)>& route) {
    RouteStructure structure = regular;
    if (platform.network.topology == heddle::Network::Topology::torus && platform.file.empty()) {
        structure = {RouteStructure::Kind::torus, platform.network.shape, {}, {}};
    } else if (platform.network.topology == heddle::Network::Topology::dragonfly && platform.file.empty()) {
        structure = {RouteStructure::Kind::dragonfly, platform.network.shape, {}, {}};
    }
    const auto right = [&] {
        return structure.known() && holds(structure, static_cast<NodeId>(hosts.size()), route);
    };
    if (right()) return structure;
    if (platform.file.empty()) return {};
    structure = find_classes(hosts);
    return right() ? structure : RouteStructure{};
}

}  // namespace heddle::sim
