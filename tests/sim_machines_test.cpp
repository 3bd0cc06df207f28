// Tests simulated machines of several nodes: what the nodes share (memory bus, card, disk), what a message
// between them takes, and what stays each node's own. Each test states its formula.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/error.hpp"
#include "sim/platform_summary.hpp"
#include "tests/sim_nodes.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;

/// Ideal nodes, `processes` of them on each machine, with a memory between them of 300 ns and 10 bytes a
/// nanosecond.
Platform machines_of(NodeId processes, NodeId nodes, CoreId cores = 1) {
    Platform platform = ideal(nodes, cores);
    platform.processes = processes;
    platform.shared_memory = {ns(300), 10e9};
    return platform;
}

/// When each message arrives that `body` sends, by receiver.
std::map<NodeId, std::vector<Time>> arrivals(const Platform& platform, const Script::Body& body,
                                             const SimOptions& options = {}) {
    std::map<NodeId, std::vector<Time>> times;
    run(
        platform, body,
        [&](Script&, Context& context, NodeId, auto) { times[context.id.node].push_back(now(context)); },
        options);
    return times;
}

// Two nodes stream b bytes each from one memory of B bytes per second: 2 b / B. On machines of their own: b /
// B.
TEST(SimMachines, NodesOfAMachineShareItsMemoryBus) {
    const runtime::Work stream{0, 1e6};
    for (const Time end : ends_of(machines_of(2, 2), stream)) EXPECT_EQ(end, us(2000));
    for (const Time end : ends_of(machines_of(1, 2), stream)) EXPECT_EQ(end, us(1000));
    Platform limited = machines_of(2, 4, 2);  // four cores a machine, each at most 0.2 of the bandwidth
    limited.core_memory_bandwidth = 0.2e9;
    for (const Time end : ends_of(limited, stream)) EXPECT_EQ(end, us(5000));
}

// Cores are each node's own: a node computes at its speed, whatever the other one does.
TEST(SimMachines, CoresAreEachNodesOwn) {
    for (const Time end : ends_of(machines_of(2, 2, 3), busy(us(7)))) EXPECT_EQ(end, us(7));
    Platform platform = machines_of(2, 4);
    platform.node_speeds = {1, 0.5, 0.25, 0.125};
    EXPECT_EQ(ends_of(platform, busy(us(1))), (std::vector{us(1), us(2), us(4), us(8)}));
}

// Two nodes of a machine send b bytes each to another machine: the first link takes both, 2 l + 2 b / B. If
// the senders have machines of their own, 2 l + b / B.
TEST(SimMachines, NodesOfAMachineShareItsCard) {
    for (const std::uint64_t bytes : {1000UL, 100000UL}) {
        const auto send_across = [bytes](Script&, Context& context) {
            if (context.id.node < 2) send(context, context.id.node + 2, bytes);
        };
        const auto shared = arrivals(machines_of(2, 4), send_across);
        const auto alone = arrivals(machines_of(1, 4), send_across);
        for (const NodeId to : {2U, 3U}) {
            EXPECT_NEAR(to_seconds(shared.at(to).front()), 2e-6 + 2e-9 * static_cast<double>(bytes), 1e-11);
            EXPECT_NEAR(to_seconds(alone.at(to).front()), 2e-6 + 1e-9 * static_cast<double>(bytes), 1e-11);
        }
    }
}

// A card takes a message every g, in the order in which they depart: node 1 sends one at 100 ns, node 0 three
// at time zero, which its sender module has ready at 400, 800 and 1200 ns.
TEST(SimMachines, ACardTakesMessagesInTheOrderOfTheirDeparture) {
    Platform platform = machines_of(2, 4);
    platform.overheads.message_send = ns(400);
    platform.network.gap = ns(700);
    platform.network.contention = Network::Contention::full;
    const auto body = [](Script&, Context& context) {
        if (context.id.node == 0)
            for (int i = 0; i < 3; ++i) send(context, 2, 0);
        if (context.id.node == 1) {
            compute(context, busy(ns(100)));
            send(context, 3, 0);
        }
    };
    const auto times = arrivals(platform, body, {.messages_compete_for_cores = false});
    // Departures at 400 (0), 500 (1), 800 (0), 1200 (0): the card takes them at 400, 1100, 1800, 2500.
    EXPECT_EQ(times.at(2), (std::vector{ns(2400), ns(3800), ns(4500)}));
    EXPECT_EQ(times.at(3), (std::vector{ns(3100)}));
}

// A disk of latency l and bandwidth B serves two readers of b bytes one after the other: l + b / B, and twice
// that.
TEST(SimMachines, ReadersOfAMachineShareItsDisk) {
    const auto ends = [](NodeId processes) {
        Platform platform = machines_of(processes, 2);
        platform.disk = {1e9, us(100)};
        std::map<NodeId, Time> read;
        run(platform, [&](Script&, Context& context) {
            const NodeId node = context.id.node;
            context.backend->io(
                context, 1e6, [] {},
                [&read, node](Context& after) {
                    read[node] = after.clock;
                    after.backend->unpark(after, 0);
                });
            while (!read.contains(node)) context.backend->park(context, never);
            EXPECT_EQ(now(context), read[node]);
        });
        return read;
    };
    EXPECT_EQ(ends(2), (std::map<NodeId, Time>{{0, us(1100)}, {1, us(2200)}}));
    EXPECT_EQ(ends(1), (std::map<NodeId, Time>{{0, us(1100)}, {1, us(1100)}}));
}

// Between two nodes of a machine: latency + bytes / bandwidth. It takes nothing from the card.
TEST(SimMachines, ALocalMessageTakesItsLatencyAndItsBytes) {
    for (const std::uint64_t bytes : {0UL, 1UL, 100UL, 4096UL, 1000000UL}) {
        for (const auto contention :
             {Network::Contention::full, Network::Contention::exact, Network::Contention::none}) {
            Platform platform = machines_of(3, 6);
            platform.network.contention = contention;
            const auto times = arrivals(platform, [bytes](Script&, Context& context) {
                if (context.id.node == 4) send(context, 5, bytes);
                if (context.id.node == 3) send(context, 0, bytes);
            });
            EXPECT_EQ(times.at(5), (std::vector{ns(300) + ns(static_cast<std::int64_t>(bytes)) / 10}));
            // SimGrid takes an empty message for one of a byte.
            EXPECT_NEAR(to_seconds(times.at(0).front()), 2e-6 + 1e-9 * static_cast<double>(bytes), 1.1e-9);
        }
    }
}

// Of one node to another messages pass one after the other: the n-th of n at latency + n b / B. Another pair
// does not wait for them.
TEST(SimMachines, LocalMessagesOfAPairPassOneAfterTheOther) {
    const auto times = arrivals(machines_of(3, 3), [](Script&, Context& context) {
        if (context.id.node == 2) return;
        for (int i = 0; i < 4; ++i) send(context, context.id.node + 1, 1000);
    });
    for (const NodeId to : {1U, 2U})
        EXPECT_EQ(times.at(to), (std::vector{ns(400), ns(500), ns(600), ns(700)}));
}

// The lookahead, and with it every window, is that of the network alone, however near the nodes of a machine
// are.
TEST(SimMachines, NodesThatAreNearShrinkNoWindow) {
    Platform platform = machines_of(4, 8);
    platform.shared_memory.latency = ns(1);
    EXPECT_EQ(describe(platform).lookahead, us(2));
    platform.processes = 1;
    EXPECT_EQ(describe(platform).lookahead, us(2));
    // Without any latency two nodes answer each other at one instant, and time goes on afterwards.
    platform.processes = 2;
    platform.nodes = 2;
    platform.shared_memory = {Time::zero(), 1e9};
    std::vector<Time> hops;
    run(
        platform,
        [](Script&, Context& context) {
            if (context.id.node == 0) send(context, 1, 10);
        },
        [&](Script&, Context& context, NodeId from, auto) {
            hops.push_back(now(context));
            if (hops.size() < 4) send(context, from, hops.size() == 2 ? 0 : 5);
        });
    EXPECT_EQ(hops, (std::vector{ns(10), ns(15), ns(15), ns(20)}));
}

// A node is told of a message, and answers it, while the sender goes on step by step: after two latencies the
// sender has the answer.
TEST(SimMachines, AnAnswerComesWhileTheSenderGoesOn) {
    Time answered{}, seen{};
    run(
        machines_of(2, 2),
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            context.charge(ns(100));  // nothing else is to happen in this window
            send(context, 1, 0);
            while (answered == Time::zero() && now(context) < us(5)) context.charge(ns(10));
            seen = now(context);
        },
        [&](Script&, Context& context, NodeId from, auto) {
            if (context.id.node == 1) return send(context, from, 0);
            answered = now(context);
        });
    EXPECT_EQ(answered, ns(700));
    EXPECT_EQ(seen, ns(700));
}

// A machine stops with all its nodes, its memory included. A speed is that of one node.
TEST(SimMachines, AMachineStopsWithAllItsNodes) {
    Platform platform = machines_of(2, 4);
    platform.events = {stop(us(1), 0), go_on(us(4), 1)};
    EXPECT_EQ(ends_of(platform, busy(us(2))), (std::vector{us(5), us(5), us(2), us(2)}));
    EXPECT_EQ(ends_of(platform, {0, 1000}), (std::vector{us(5), us(5), us(2), us(2)}));
    platform.events = {speed(us(1), 1, 0.5)};
    EXPECT_EQ(ends_of(platform, busy(us(2))), (std::vector{us(2), us(3), us(2), us(2)}));
    platform.events = {stop(us(1), 0), stop(us(2), 1)};
    EXPECT_THROW(SimBackend{platform}, Error);
}

// Distances: nodes of a machine are nearest, and a group.
TEST(SimMachines, NodesOfAMachineAreNearest) {
    Platform platform = machines_of(2, 8);
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {2, 2};
    platform.network.cables = {1, 1};
    const SimBackend backend(platform);
    const runtime::Topology& topology = backend.topology();
    EXPECT_EQ(topology.group, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
    EXPECT_EQ(topology.distances.latency(0, 1), ns(300));
    EXPECT_EQ(topology.distances.latency(0, 3), us(2));
    EXPECT_EQ(topology.distances.latency(0, 4), us(4));
    // Of seven other nodes one is on the own machine, two are below the own switch, four are elsewhere.
    EXPECT_EQ(topology.latency, (ns(300) + 2 * us(2) + 4 * us(4)) / 7);
    const ClusterView view = backend.cluster(ns(50));
    EXPECT_EQ(view.routes->between(6, 7).latency, ns(350));
    EXPECT_EQ(view.routes->between(6, 7).bandwidth, 10e9);
    EXPECT_EQ(view.routes->between(6, 5).latency, ns(2050));
    // No tree: the same by rows.
    platform.network.topology = Network::Topology::torus;
    platform.network.shape = {4};
    platform.network.cables = {};
    const SimBackend ring(platform);
    EXPECT_EQ(ring.cluster({}).routes->between(0, 1).latency, ns(300));
    EXPECT_EQ(ring.cluster({}).routes->between(1, 2).latency, us(1));
    EXPECT_EQ(ring.cluster({}).routes->between(0, 5).latency, us(2));
    EXPECT_EQ(ring.topology().distances.latency(1, 0), ns(300));
    EXPECT_EQ(ring.topology().distances.latency(1, 4), us(2));
}

TEST(SimMachines, WhatMakesNoSenseIsRefused) {
    const auto words = [](const Platform& platform) -> std::string {
        try {
            const SimBackend backend(platform);
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(words(machines_of(4, 10)), HasSubstr("10 nodes do not fill machines of 4 processes each"));
    EXPECT_THAT(words(machines_of(0, 10)), HasSubstr("machines of zero processes"));
    Platform platform = machines_of(2, 4);
    platform.shared_memory.bandwidth = 0;
    EXPECT_THAT(words(platform), HasSubstr("shared_memory.bandwidth"));
    platform = machines_of(2, 12);
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {5};
    EXPECT_THAT(words(platform), HasSubstr("holds 5 machines, not 6"));
    platform.network.shape = {6};
    EXPECT_EQ(words(platform), "accepted");
}

TEST(SimMachines, ADescriptionCountsNodesAndMachines) {
    Platform platform = machines_of(4, 12, 2);
    const PlatformSummary summary = describe(platform);
    EXPECT_EQ(summary.nodes, 12U);
    EXPECT_EQ(summary.processes, 4U);
    EXPECT_EQ(summary.cores_total, 24U);
    EXPECT_EQ(summary.pairs, 6U);  // of three machines
    EXPECT_EQ(summary.shared_memory.latency, ns(300));
}

}  // namespace
}  // namespace heddle::sim::testing
