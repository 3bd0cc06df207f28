// Collects the figures of a built platform from routes of all, or a sample of, pairs of nodes.
#include "sim/platform_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/cards.hpp"
#include "sim/hosts.hpp"
#include "sim/networks.hpp"
#include "sim/simgrid_process.hpp"

namespace heddle::sim {

namespace {

/// Up to this many machines all pairs are looked at; of larger platforms as many routes as these have.
constexpr NodeId nodes_all = 64;
constexpr std::uint64_t routes_sampled = 4032;

void add_route(PlatformSummary& summary, const RouteFacts& route, double& latency_sum) {
    if (!route.exists()) {
        throw Error("there are nodes without a route between them", "every host must reach every other");
    }
    ++summary.pairs;
    latency_sum += to_seconds(route.latency);
    summary.latency_min = std::min(summary.latency_min, route.latency);
    summary.latency_max = std::max(summary.latency_max, route.latency);
    summary.bandwidth_min = std::min(summary.bandwidth_min, route.bandwidth);
    summary.bandwidth_max = std::max(summary.bandwidth_max, route.bandwidth);
    summary.hops_max = std::max(summary.hops_max, route.links);
}

void add_routes(PlatformSummary& summary, SimgridProcess& simgrid) {
    const NodeId nodes = summary.nodes / summary.processes;  // of SimGrid
    if (nodes < 2) return;
    summary.latency_min = never;
    summary.bandwidth_min = std::numeric_limits<double>::infinity();
    double latency_sum = 0;
    if (nodes <= nodes_all) {
        for (NodeId from = 0; from < nodes; ++from) {
            const auto routes = simgrid.routes(from, 0, nodes);
            for (NodeId to = 0; to < nodes; ++to) {
                if (to != from) add_route(summary, routes[to], latency_sum);
            }
        }
    } else {
        Random random(0);  // any fixed sample will do
        for (std::uint64_t i = 0; i < routes_sampled; ++i) {
            const auto from = static_cast<NodeId>(random.below(nodes));
            const auto to = static_cast<NodeId>((from + 1 + random.below(nodes - 1)) % nodes);
            add_route(summary, simgrid.routes(from, to, 1).front(), latency_sum);
        }
    }
    summary.latency_mean = from_seconds(latency_sum / static_cast<double>(summary.pairs));
}

/// Several networks: all pairs of nodes, or as many neighbours and far ones as on a small platform.
void add_ways(PlatformSummary& summary, BuiltNetworks& networks) {
    const NodeId nodes = summary.nodes;
    summary.latency_min = never;
    summary.bandwidth_min = std::numeric_limits<double>::infinity();
    double latency_sum = 0;
    const NodeId step = std::max<NodeId>(1, nodes / nodes_all);
    for (NodeId from = 0; from < nodes; from += step) {
        for (NodeId to = 0; to < nodes; to += step) {
            if (networks.cards().machine(from) == networks.cards().machine(to)) continue;
            const RouteTable::Route route = networks.way(from, to).route;
            RouteFacts facts{};
            facts.latency = route.latency;
            facts.bandwidth = route.bandwidth;
            facts.links = networks.links(from, to);
            add_route(summary, facts, latency_sum);
        }
    }
    if (summary.pairs == 0) {  // all nodes are on one machine
        summary.latency_min = {};
        summary.bandwidth_min = 0;
        return;
    }
    summary.latency_mean = from_seconds(latency_sum / static_cast<double>(summary.pairs));
}

/// Adds up what is built of each network.
void add_networks(PlatformSummary& summary, const Platform& platform, BuiltNetworks& networks, bool links) {
    summary.lookahead = never;
    for (NetworkId network = 0; network < networks.count(); ++network) {
        const PlatformFacts& facts = networks.simgrid(network).facts();
        const std::string& name = platform.networks[network].name;
        const Platform own = platform_of(platform, network);
        if (network > 0) summary.topology += ", ";
        summary.topology +=
            fmt::format("{} ({}, {} machines)", name, heddle::name(own.network.topology), own.nodes);
        summary.links += facts.links;
        summary.groups += facts.groups;
        summary.lookahead = std::min(summary.lookahead, facts.lookahead);
        for (const std::string& note : facts.notes) summary.notes.push_back(name + ": " + note);
        if (!links) continue;
        for (NamedLink& link : networks.simgrid(network).named_links()) {
            link.name = name + ": " + link.name;
            summary.named_links.push_back(std::move(link));
        }
    }
    add_ways(summary, networks);
}

}  // namespace

RouteMeans mean_route(SimgridProcess& simgrid, const Platform& platform) {
    constexpr NodeId sources = 4;
    const NodeId hosts = platform.machines();
    const SharedMemory& memory = platform.shared_memory;
    const std::int64_t neighbours = std::int64_t{platform.processes} - 1;
    TimeSum latency_sum;
    double byte_times = 0;
    std::int64_t count = 0;
    for (NodeId i = 0; i < std::min(sources, hosts); ++i) {
        const auto from = static_cast<NodeId>(std::uint64_t{i} * hosts / sources);
        for (const RouteFacts& route : simgrid.routes(from, 0, hosts)) {
            if (!route.exists()) continue;  // to itself
            latency_sum += TimeSum(route.latency) * std::int64_t{platform.processes};
            byte_times += platform.processes / route.bandwidth;
            count += platform.processes;
        }
        latency_sum += TimeSum(memory.latency) * neighbours;
        byte_times += static_cast<double>(neighbours) / memory.bandwidth;
        count += neighbours;
    }
    if (count == 0) return {};
    return {Time(static_cast<Time::rep>((latency_sum / count).count())),
            static_cast<double>(count) / byte_times};
}

namespace {

using Route = RouteTable::Route;

Route checked_route(const RouteFacts& facts, Time besides) {
    if (!facts.exists()) {
        throw Error("there are nodes without a route between them", "every host must reach every other");
    }
    return {checked_sum(facts.latency, besides), facts.bandwidth};
}

/// A tree of switches, whose lowest ones are machines if these have several nodes.
RouteTable tree_of_nodes(SimgridProcess& simgrid, const Platform& platform, const Route& within,
                         Time besides) {
    const PlatformFacts& facts = simgrid.facts();
    const NodeId hosts = platform.machines();
    std::vector<NodeId> below;
    std::vector<Route> at_level;
    if (platform.processes > 1) {
        below.push_back(platform.processes);
        at_level.push_back(within);
    }
    for (std::size_t level = 0; level < facts.tree.size(); ++level) {
        // The first host outside the smaller group; at some levels there is none.
        const NodeId to = level == 0 ? 1 : facts.tree[level - 1];
        const bool there = to < hosts && facts.meeting_level(0, to) == level;
        below.push_back(facts.tree[level] * platform.processes);
        at_level.push_back(there ? checked_route(simgrid.routes(0, to, 1).front(), besides) : Route{});
    }
    return RouteTable::tree(platform.nodes, std::move(below), std::move(at_level));
}

}  // namespace

RouteTable route_table(SimgridProcess& simgrid, const Platform& platform, Time besides) {
    const NodeId nodes = platform.nodes;
    const Route within{checked_sum(platform.shared_memory.latency, besides),
                       platform.shared_memory.bandwidth};
    if (nodes < 2) return RouteTable::equal({});
    if (platform.machines() == 1 || !simgrid.facts().tree.empty())
        return tree_of_nodes(simgrid, platform, within, besides);
    return RouteTable::rows(nodes, [&simgrid, cards = Cards(platform.nodes, platform.processes), nodes,
                                    within, besides](NodeId from) {
        std::vector<Route> row(nodes);
        const CardId own = cards.card(from);
        const std::vector<RouteFacts> found = simgrid.routes(own, 0, cards.card(nodes - 1) + 1);
        for (NodeId to = 0; to < nodes; ++to) {
            if (to == from) continue;
            row[to] = cards.card(to) == own ? within : checked_route(found[cards.card(to)], besides);
        }
        return row;
    });
}

PlatformSummary describe(const Platform& stated, bool links) {
    Platform platform = stated;
    complete(platform);
    BuiltNetworks networks(platform);
    SimgridProcess& simgrid = networks.simgrid();
    const PlatformFacts& facts = simgrid.facts();

    PlatformSummary summary;
    const bool from_file = !platform.file.empty();
    if (!networks.several()) {
        summary.topology = from_file ? platform.file : name(platform.network.topology);
        if (!from_file) summary.shape = platform.network.shape;
    }
    summary.processes = platform.processes;
    summary.shared_memory = platform.shared_memory;
    summary.nodes = networks.cards().nodes();
    const bool file_cores = from_file && !platform.stated_cores;
    const bool file_speed = from_file && !platform.stated_core_speed;
    summary.cores_min = std::numeric_limits<CoreId>::max();
    summary.core_speed_min = std::numeric_limits<double>::infinity();
    for (NodeId node = 0; node < summary.nodes; ++node) {
        const HostFacts& host = facts.hosts[networks.several() ? 0 : networks.cards().card(node)];
        const CoreId cores = file_cores ? cores_of_node(platform, host) : std::max(platform.cores, CoreId{1});
        const double speed = file_speed ? host.speed : platform.core_speed;
        summary.cores_min = std::min(summary.cores_min, cores);
        summary.cores_max = std::max(summary.cores_max, cores);
        summary.cores_total += cores;
        for (CoreId core = 0; core < cores; ++core) {
            const double relative = platform.speed_factor(node, core);
            summary.core_speed_min = std::min(summary.core_speed_min, speed * relative);
            summary.core_speed_max = std::max(summary.core_speed_max, speed * relative);
        }
    }
    summary.memory_bandwidth = platform.memory_bandwidth;
    summary.core_memory_bandwidth = platform.core_memory_bandwidth;
    summary.cache = platform.cache;
    summary.disk = platform.disk;
    summary.cost_model = name(platform.network.cost_model);
    if (networks.several()) {
        add_networks(summary, platform, networks, links);
        return summary;
    }
    summary.groups = facts.groups;
    summary.links = facts.links;
    summary.lookahead = facts.lookahead == never ? Time::zero() : facts.lookahead;
    summary.notes = facts.notes;
    if (links) summary.named_links = simgrid.named_links();
    add_routes(summary, simgrid);
    return summary;
}

}  // namespace heddle::sim
