// Collects the figures of a built platform from routes of all, or a sample of, pairs of nodes.
#include "sim/platform_summary.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/random.hpp"
#include "sim/simgrid_process.hpp"

namespace heddle::sim {

namespace {

/// Up to this many nodes all pairs are looked at; of larger platforms as many routes as these have.
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
    const NodeId nodes = summary.nodes;
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

}  // namespace

RouteMeans mean_route(SimgridProcess& simgrid, NodeId nodes) {
    constexpr NodeId sources = 4;
    std::int64_t latency_sum = 0;
    double byte_times = 0;
    std::int64_t count = 0;
    for (NodeId i = 0; i < std::min(sources, nodes); ++i) {
        const auto from = static_cast<NodeId>(std::uint64_t{i} * nodes / sources);
        for (const RouteFacts& route : simgrid.routes(from, 0, nodes)) {
            if (!route.exists()) continue;  // to itself
            latency_sum += route.latency.count();
            byte_times += 1 / route.bandwidth;
            ++count;
        }
    }
    if (count == 0) return {};
    return {Time(latency_sum / count), static_cast<double>(count) / byte_times};
}

RouteTable route_table(SimgridProcess& simgrid, NodeId nodes, Time besides) {
    using Route = RouteTable::Route;
    const auto route = [besides](const RouteFacts& facts) {
        if (!facts.exists()) {
            throw Error("there are nodes without a route between them", "every host must reach every other");
        }
        return Route{facts.latency + besides, facts.bandwidth};
    };
    if (nodes < 2) return RouteTable::equal({});
    const PlatformFacts& facts = simgrid.facts();
    if (facts.tree.empty()) {
        return RouteTable::rows(nodes, [&simgrid, nodes, route](NodeId from) {
            std::vector<Route> row(nodes);
            const std::vector<RouteFacts> found = simgrid.routes(from, 0, nodes);
            for (NodeId to = 0; to < nodes; ++to) {
                if (to != from) row[to] = route(found[to]);
            }
            return row;
        });
    }
    std::vector<Route> at_level;
    for (std::size_t level = 0; level < facts.tree.size(); ++level) {
        // The first node outside the smaller group; at some levels there is none.
        const NodeId to = level == 0 ? 1 : facts.tree[level - 1];
        const bool there = to < nodes && facts.meeting_level(0, to) == level;
        at_level.push_back(there ? route(simgrid.routes(0, to, 1).front()) : Route{});
    }
    return RouteTable::tree(nodes, facts.tree, std::move(at_level));
}

PlatformSummary describe(const Platform& stated, bool links) {
    Platform platform = stated;
    complete(platform);
    SimgridProcess simgrid(platform);
    const PlatformFacts& facts = simgrid.facts();

    PlatformSummary summary;
    const bool from_file = !platform.file.empty();
    summary.topology = from_file ? platform.file : name(platform.network.topology);
    if (!from_file) summary.shape = platform.network.shape;
    summary.nodes = static_cast<NodeId>(facts.hosts.size());
    const bool file_cores = from_file && !platform.stated_cores;
    const bool file_speed = from_file && !platform.stated_core_speed;
    summary.cores_min = std::numeric_limits<CoreId>::max();
    summary.core_speed_min = std::numeric_limits<double>::infinity();
    for (NodeId node = 0; node < summary.nodes; ++node) {
        const HostFacts& host = facts.hosts[node];
        const CoreId cores = file_cores ? host.cores : std::max(platform.cores, CoreId{1});
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
    summary.disk = platform.disk;
    summary.groups = facts.groups;
    summary.links = facts.links;
    summary.lookahead = facts.lookahead == never ? Time::zero() : facts.lookahead;
    summary.cost_model = name(platform.network.cost_model);
    summary.notes = facts.notes;
    if (links) summary.named_links = simgrid.named_links();
    add_routes(summary, simgrid);
    return summary;
}

}  // namespace heddle::sim
