// Computes what threads exchange, and what the links between processes take for it.
#include "model/messaging/talk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace heddle::messaging {

namespace {

constexpr Time latency_unknown = std::chrono::microseconds(1);
constexpr double bandwidth_unknown = 1e9;

/// Of the way over networks and gateways, as they are stated.
RouteTable::Route over_networks(const NetworkRoutes& routes, ProcessId a, ProcessId b) {
    const NetworkRoutes::Way way =
        routes.way(a, b, [&](NodeId /*from*/, NodeId /*to*/, NetworkId network) -> RouteTable::Route {
            const JoinedNodes& joined = routes.networks()[network];
            return {joined.latency, joined.bandwidth};
        });
    return {checked_sum(way.route.latency, way.gateways), way.route.bandwidth};
}

RouteTable::Route link_of(const runtime::Topology& topology, ProcessId a, ProcessId b) {
    const NodeDistances& distances = topology.distances;
    const bool near = distances.groups() > 1 && distances.group(a) == distances.group(b);
    const Time latency = distances.latency(a, b);
    if (topology.routes) {
        const RouteTable::Route way = over_networks(*topology.routes, a, b);
        // A latency that no network has is that of memory which they share.
        if (near && latency > Time::zero() && latency < way.latency) return {.latency = latency};
        return way;
    }
    RouteTable::Route link{latency > Time::zero() ? latency : latency_unknown, topology.bandwidth};
    const runtime::Crossing& crossing = topology.crossing;
    // Groups between which messages take a known time, and none is known within: processes of a machine.
    if (crossing.message > 0)
        link.bandwidth = !near                 ? crossing.message
                         : crossing.within > 0 ? crossing.within
                                               : std::numeric_limits<double>::infinity();
    if (link.bandwidth <= 0) link.bandwidth = bandwidth_unknown;
    if (near && latency >= topology.latency) {
        link.latency /= 2;
        link.bandwidth *= 2;
    }
    return link;
}

}  // namespace

Talk Talk::of(const std::vector<std::vector<Place>>& neighbours, double messages, double bytes) {
    Talk talk;
    talk.places = neighbours.size();
    for (Place place = 0; place < talk.places; ++place)
        for (const Place neighbour : neighbours[place])
            talk.pairs.push_back({place, neighbour, messages, bytes});
    return talk;
}

Talk Talk::matrix(const std::vector<std::vector<double>>& bytes, double message_bytes) {
    Talk talk;
    talk.places = bytes.size();
    for (Place a = 0; a < talk.places; ++a) {
        if (bytes[a].size() != bytes.size())
            throw Error(fmt::format("row {} of the bytes that {} threads exchange has {} columns", a,
                                    bytes.size(), bytes[a].size()),
                        "give each row as many columns as there are rows");
        for (Place b = 0; b < talk.places; ++b)
            if (bytes[a][b] != 0) talk.pairs.push_back({a, b, bytes[a][b] / message_bytes, bytes[a][b]});
    }
    return talk;
}

LinkBetween links_of(const runtime::Topology& topology) {
    return [&topology](ProcessId a, ProcessId b) { return link_of(topology, a, b); };
}

double seconds_over(const RouteTable::Route& link, double messages, double bytes) {
    return messages * to_seconds(link.latency) + bytes / link.bandwidth;
}

double seconds_between(const Talk& talk, std::span<const ProcessId> process_of, const LinkBetween& link) {
    double sum = 0;
    for (const Talk::Pair& pair : talk.pairs) {
        const auto [a, b] = std::minmax(process_of[pair.a], process_of[pair.b]);
        if (a != b) sum += seconds_over(link(a, b), pair.messages, pair.bytes);
    }
    return sum;
}

}  // namespace heddle::messaging
