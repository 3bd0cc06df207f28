// Checks the values that a platform states for nodes that differ, and for nodes and links that change:
// sockets, factors of speed, noise, events. The simulator applies them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/platform.hpp"

namespace heddle {

namespace {

void check_factors(const std::vector<double>& factors, const char* what) {
    for (const double factor : factors) {
        if (factor > 0 && std::isfinite(factor)) continue;
        throw Error(fmt::format("{} in platform.{}", factor, what), "every factor is a number above zero");
    }
}

void check_noise(double deviation, const char* what) {
    if (deviation >= 0 && std::isfinite(deviation)) return;
    throw Error(fmt::format("platform.noise.{} is {}", what, deviation),
                "it is a relative standard deviation, such as 0.1");
}

/// A node joins once and leaves once. `joined`: what the events before have asked nodes to do.
void check_member(const Platform& platform, const NodeEvent& event, std::map<NodeId, bool>& joined) {
    const bool begins = event.node < platform.beginners();
    const auto before = joined.find(event.node);
    if (event.node == 0)
        throw Error("an event that makes node 0 join or leave",
                    "node 0 leads the run: it is there from the beginning to the end", event.where);
    if (*event.member && (begins || before != joined.end()))
        throw Error(
            fmt::format("node {} is to join, but it has joined before", event.node),
            fmt::format("nodes from {} on may join, each once; platform.nodes_at_start says how many begin",
                        platform.beginners()),
            event.where);
    if (!*event.member && !begins && before == joined.end())
        throw Error(fmt::format("node {} is to leave, but it has not joined by then", event.node),
                    "it joins with an event of its own, at an earlier time", event.where);
    if (!*event.member && before != joined.end() && !before->second)
        throw Error(fmt::format("node {} is to leave, but it has left before", event.node),
                    "a node that has left does not come back", event.where);
    joined[event.node] = *event.member;
}

/// The events come in the order of time.
void check_events(const Platform& platform) {
    std::map<NodeId, bool> stopped;  // by machine
    std::map<NodeId, bool> joined;   // those that were asked to join (true) or to leave
    for (const NodeEvent& event : platform.events) {
        if (event.node >= platform.nodes) {
            throw Error(
                fmt::format("an event of node {}, but there are {} nodes", event.node, platform.nodes),
                "nodes are counted from 0", event.where);
        }
        if (event.at < Time::zero() ||
            event.speed.has_value() + event.stop.has_value() + event.member.has_value() != 1) {
            throw Error("an event that is not clear",
                        "state `at`, `node`, and one of `speed: FACTOR`, `stop: true` or `false`, and "
                        "`member: true` or `false`",
                        event.where);
        }
        if (event.member) {
            check_member(platform, event, joined);
            continue;
        }
        if (event.speed) {
            if (*event.speed > 0 && std::isfinite(*event.speed)) continue;
            throw Error(fmt::format("an event with the speed {}", *event.speed),
                        "a factor above zero, or `stop: true`", event.where);
        }
        bool& now = stopped[event.node / platform.processes];
        if (now == *event.stop) {
            throw Error(fmt::format("node {} is to {}, but it {} then", event.node, now ? "stop" : "go on",
                                    now ? "has stopped already" : "has not stopped"),
                        platform.processes == 1
                            ? "`stop: true` and `stop: false` of a node take turns"
                            : "a stop is one of all nodes of its machine: state it for one of them",
                        event.where);
        }
        now = *event.stop;
    }
}

void check_events_of_links(const std::vector<LinkEvent>& events) {
    for (const LinkEvent& event : events) {
        if (event.at < Time::zero() || event.link.empty() || (!event.bandwidth && !event.latency)) {
            throw Error("an event of a link that is not clear",
                        "state `at`, `link`, and `bandwidth: FACTOR`, `latency: FACTOR` or both",
                        event.where);
        }
        for (const auto& factor : {event.bandwidth, event.latency}) {
            if (!factor || (*factor > 0 && std::isfinite(*factor))) continue;
            throw Error(fmt::format("an event of link {} with the factor {}", event.link, *factor),
                        "a factor is a number above zero", event.where);
        }
    }
}

template <class Event>
void put_in_order(std::vector<Event>& events) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
}

double cyclic(const std::vector<double>& factors, std::uint32_t index) {
    return factors.empty() ? 1 : factors[index % factors.size()];
}

}  // namespace

std::vector<std::uint32_t> cluster_of_nodes(const std::vector<std::uint32_t>& clusters, NodeId nodes) {
    if (clusters.empty()) return std::vector<std::uint32_t>(nodes, 0);
    const auto held = std::accumulate(clusters.begin(), clusters.end(), std::uint64_t{0});
    if (held != nodes) {
        throw Error(fmt::format("platform.clusters holds {} nodes, but the run has {}", held, nodes),
                    "state how many nodes each cluster has, such as `clusters: [8, 8]` for 16 nodes");
    }
    std::vector<std::uint32_t> cluster;
    for (std::uint32_t i = 0; i < clusters.size(); ++i) cluster.insert(cluster.end(), clusters[i], i);
    return cluster;
}

double Platform::speed_factor(NodeId node, CoreId core) const {
    return cyclic(node_speeds, node) * cyclic(core_speeds, core);
}

bool Platform::members_change() const {
    return nodes_at_start != 0 ||
           std::ranges::any_of(events, [](const NodeEvent& event) { return event.member.has_value(); });
}

void complete_nodes(Platform& platform) {
    if (platform.nodes_at_start > platform.nodes) {
        throw Error(fmt::format("platform.nodes_at_start is {}, but there are {} nodes",
                                platform.nodes_at_start, platform.nodes),
                    "platform.nodes counts all nodes, those that join later too");
    }
    if (platform.sockets == 0) throw Error("nodes of zero sockets", "state at least one in platform.sockets");
    if (platform.cores % platform.sockets != 0) {
        throw Error(fmt::format("{} cores cannot be divided evenly among {} sockets", platform.cores,
                                platform.sockets),
                    "platform.cores is a multiple of platform.sockets");
    }
    check_factors(platform.node_speeds, "node_speeds");
    check_factors(platform.core_speeds, "core_speeds");
    check_noise(platform.noise.node, "node");
    check_noise(platform.noise.task, "task");
    put_in_order(platform.events);
    check_events(platform);
}

void complete_link_events(Platform& platform) {
    put_in_order(platform.link_events);
    check_events_of_links(platform.link_events);
}

}  // namespace heddle
