// Tests links whose bandwidth and latency change: each test states a formula and checks it. The times are
// calculated by hand from docs/simulator.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "host/thread_crew.hpp"
#include "sim/platform_summary.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;
using Contention = Network::Contention;

LinkEvent bandwidth(Time at, const std::string& link, double factor) {
    return {.at = at, .link = link, .bandwidth = factor};
}
LinkEvent latency(Time at, const std::string& link, double factor) {
    return {.at = at, .link = link, .latency = factor};
}

/// When the messages of a ping-pong between nodes 0 and 1 arrive, each sent when the one before it came.
std::vector<Time> ping_pong(const Platform& platform, std::uint64_t bytes, std::size_t count) {
    std::vector<Time> arrivals;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) send(context, 1, bytes);
        },
        [&](Script&, Context& context, NodeId from, auto) {
            arrivals.push_back(now(context));
            if (arrivals.size() < count) send(context, from, bytes);
        });
    return arrivals;
}

/// All ways in which a message can be dealt with that is alone: calculated, SimGrid's two, and without
/// sharing.
std::vector<Platform> all_ways(const Platform& platform) {
    std::vector<Platform> all(4, platform);
    all[1].network.small_message_bytes = 0;
    all[2].network.contention = Contention::exact;
    all[3].network.contention = Contention::none;
    return all;
}

void expect_times(const std::vector<Time>& found, const std::vector<Time>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(to_seconds(found[i]), to_seconds(expected[i]), 1e-9) << "message " << i;
}

// 1000 bytes: 2 us and 1 us at 1 byte per ns. From 29.4 us on a byte takes 10 ns. The tenth message flows
// from 29 us on: 400 bytes until then, the other 600 in 6 us. Each further one takes 2 us and 10 us.
TEST(SimLinks, APingPongAcrossALinkThatFallsToATenth) {
    Platform platform = ideal(2);
    platform.link_events = {bandwidth(ns(29400), "link-0", 0.1)};
    std::vector<Time> expected;
    for (int i = 1; i <= 9; ++i) expected.push_back(us(3 * i));
    for (int i = 0; i < 6; ++i) expected.push_back(ns(35400) + us(12 * i));
    for (const Platform& way : all_ways(platform)) expect_times(ping_pong(way, 1000, 15), expected);
}

// One direction only: messages to node 0 take 12 us, those from it 3 us.
TEST(SimLinks, ADirectionOfALinkHasANameOfItsOwn) {
    Platform platform = ideal(2);
    platform.link_events = {bandwidth(Time::zero(), "link-0_DOWN", 0.1)};
    for (const Platform& way : all_ways(platform))
        expect_times(ping_pong(way, 1000, 4), {us(3), us(15), us(18), us(30)});
}

// Factors are of the figures at first, not of the last ones, and what an event does not state stays as it is.
TEST(SimLinks, EveryChangeIsAFactorOfTheFirstFigures) {
    Platform platform = ideal(2);
    platform.link_events = {latency(us(4), "link-1", 5), bandwidth(us(20), "link-1", 0.5),
                            bandwidth(us(3), "link-1", 0.1), latency(us(50), "link-1", 1)};
    // Departures at 0, 3, 15, 31 and 39 us; 1 byte takes 1, 10, 2, 2 and 2 ns; the other link has 1 us
    // always. 0: 2 + 1. 3: 2 + 10. 15: 6 us, then from 21 us on 2 us. 23 and 31: 6 + 2.
    const std::vector<Time> expected = {us(3), us(15), us(23), us(31), us(39), us(47), us(55), us(59)};
    for (const Platform& way : all_ways(platform)) expect_times(ping_pong(way, 1000, 8), expected);
}

// The latency is that of the departure, whatever happens afterwards.
TEST(SimLinks, AMessageKeepsTheLatencyOfItsDeparture) {
    Platform platform = ideal(2);
    platform.link_events = {latency(ns(1500), "link-0", 100), latency(us(200), "link-0", 0.1)};
    const std::vector<Time> expected = {us(3), us(105), us(207), ns(209100), ns(211200)};
    for (const Platform& way : all_ways(platform)) {
        EXPECT_LE(describe(way).lookahead, ns(200));
        expect_times(ping_pong(way, 1000, 5), expected);
    }
}

// L = the smallest latency of any route times the smallest factor of any link, if that is below 1.
TEST(SimLinks, TheLookaheadIsTheSmallestLatencyOfTheWholeRun) {
    Platform platform = ideal(3);
    EXPECT_EQ(describe(platform).lookahead, us(2));
    platform.link_events = {latency(us(4), "link-1", 5), bandwidth(us(4), "link-1", 0.01)};
    EXPECT_EQ(describe(platform).lookahead, us(2));
    platform.link_events.push_back(latency(us(5), "link-2", 0.25));
    EXPECT_EQ(describe(platform).lookahead, ns(500) - Time(1));
}

// Small messages of one pair arrive in the order in which they were sent, also where the latency falls: the
// first begins to flow at 9 + 11 us, and so does the second, not at 10 + 2 us.
TEST(SimLinks, NoSmallMessageOvertakesAnotherWhereTheLatencyFalls) {
    Platform platform = ideal(2);
    platform.link_events = {latency(Time::zero(), "link-0", 10), latency(us(10), "link-0", 1)};
    for (const auto contention : {Contention::full, Contention::exact}) {
        platform.network.contention = contention;
        std::vector<std::pair<std::size_t, Time>> came;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id.node != 0) return;
                sleep_until(context, us(9));
                send(context, 1, 1);
                sleep_until(context, us(10));
                send(context, 1, 2);
            },
            [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
                came.emplace_back(message.size(), now(context));
            });
        ASSERT_EQ(came.size(), 2U);
        EXPECT_EQ(came[0].first, 1U);
        EXPECT_EQ(came[1].first, 2U);
        EXPECT_NEAR(to_seconds(came[0].second), 20e-6, 5e-9);
        EXPECT_NEAR(to_seconds(came[1].second), 20e-6, 5e-9);
    }
}

/// When a megabyte arrives at node 1 that node 0 sends at zero, and when one from node 2 does, if that sends.
std::vector<Time> transfers(const Platform& platform, bool two) {
    std::vector<Time> arrivals(3, never);
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0 || (two && context.id.node == 2)) send(context, 1, 1'000'000);
        },
        [&](Script&, Context& context, NodeId from, auto) { arrivals[from] = now(context); });
    return arrivals;
}

// What is left takes the bandwidth of its time: 498,000 bytes until 500 us, 502,000 after.
TEST(SimLinks, ATransferUnderWayTakesItsRestAtTheNewBandwidth) {
    Platform platform = ideal(3);
    for (const auto& [factor, end] : {std::pair(0.1, us(500 + 5020)), std::pair(2.0, us(500 + 251))}) {
        // The other link must not be the narrow one.
        platform.link_events = {bandwidth(us(500), "link-1", factor), bandwidth(us(500), "link-0", 2)};
        for (const Platform& way : all_ways(platform)) expect_times({transfers(way, false)[0]}, {end});
    }
    // Two that share node 1's link: 249,000 bytes each until 500 us, then 751,000 at 5 ns or 0.5 ns a byte.
    platform.link_events = {bandwidth(us(500), "link-1", 0.1)};
    EXPECT_NEAR(to_seconds(transfers(platform, true)[0]), 500e-6 + 751e3 * 20e-9, 1e-9);
    platform.link_events = {bandwidth(us(500), "link-1", 2)};
    EXPECT_NEAR(to_seconds(transfers(platform, true)[2]), 500e-6 + 751e3 * 1e-9, 1e-9);
}

// Three messages of 100,000 bytes, each once the one before it has left, at 0.01 bytes per ns until 15 ms:
// the first needs 10 ms, the second has 50,024 bytes left then. The windows of node 2 are short: none may be
// promised that the third one comes as late as it would if it had been sent at zero.
TEST(SimLinks, WhatWaitsForItsTurnFindsTheLinkAsItIsThen) {
    for (const int steps : {0, 16'000}) {
        Platform platform = ideal(3);
        platform.overheads.message_send = ns(400);
        platform.link_events = {bandwidth(Time::zero(), "link-0", 0.01), bandwidth(us(15'000), "link-0", 1)};
        std::vector<Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                for (int i = 0; context.id.node == 0 && i < 3; ++i)
                    context.backend->send(context, 1, runtime::Bytes(100'000), {}, {.in_turn = true});
                for (int i = 0; context.id.node == 2 && i < steps; ++i) compute(context, busy(us(1)));
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        expect_times(arrivals, {ns(10'002'400), ns(15'050'024), ns(15'150'024)});
    }
}

// Small messages share a link that changes: eight of 1000 bytes flow into one link from 2 us on, 4000 bytes
// in all until 6 us, and the other 4000 at 10 ns a byte.
TEST(SimLinks, SmallMessagesShareALinkThatChanges) {
    Platform platform = ideal(9);
    platform.link_events = {bandwidth(us(6), "link-0", 0.1)};
    std::vector<Time> arrivals;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node > 0) send(context, 0, 1000);
        },
        [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
    expect_times(arrivals, std::vector<Time>(8, us(46)));
    platform.link_events = {bandwidth(us(6), "link-0", 4)};  // 4000 bytes at 4 bytes a ns
    arrivals.clear();
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node > 0) send(context, 0, 1000);
        },
        [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
    expect_times(arrivals, std::vector<Time>(8, us(7)));
}

// Half of what the link has then: the estimate for a small message beside a large one, 20 ns a byte.
TEST(SimLinks, ASmallMessageBesideALargeOneFindsTheLinkAsItIs) {
    Platform platform = ideal(2);
    platform.link_events = {bandwidth(us(50), "link-1", 0.1)};
    Time small = never;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            send(context, 1, 1'000'000);
            sleep_until(context, us(100));
            send(context, 1, 1000);
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            if (message.size() == 1000) small = now(context);
        });
    EXPECT_NEAR(to_seconds(small), 122e-6, 0.5e-6);
}

// A link inside the network narrows the ways over it: 4 us, and 1000 bytes at 10 ns. The others keep 1 ns.
TEST(SimLinks, LinksInsideTheNetworkChangeToo) {
    Platform platform = ideal(4);
    platform.network.topology = Network::Topology::fat_tree;
    platform.network.shape = {2, 2};
    const auto arrivals_at_2_and_1 = [&](const std::string& link, double factor) {
        platform.link_events = {bandwidth(Time::zero(), link, factor)};
        std::map<NodeId, Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id.node != 0) return;
                send(context, 2, 1000);
                sleep_until(context, us(100));
                send(context, 1, 1000);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals[context.id.node] = now(context); });
        return std::pair(arrivals.at(2), arrivals.at(1) - us(100));
    };
    int slow = 0;
    int unused = 0;
    for (const NamedLink& link : describe(platform, true).named_links) {
        const auto found = arrivals_at_2_and_1(link.name, 0.1);
        if (found == std::pair(us(14), us(3))) ++slow;
        if (found == std::pair(us(5), us(3))) ++unused;
    }
    // Of the way to node 2 the second and third link are in no other way. Its first one slows both messages,
    // its last one is that of node 2; node 1's last one slows the second message only.
    EXPECT_EQ(slow, 3);
    EXPECT_EQ(unused, static_cast<int>(describe(platform).links) - 5);
}

TEST(SimLinks, AnUnknownLinkIsAnErrorThatNamesSome) {
    Platform platform = ideal(3);
    platform.link_events = {bandwidth(us(1), "links-1", 0.1)};
    platform.link_events[0].where = {"a.yaml", 7};
    try {
        const SimBackend backend(platform);
        FAIL() << "taken";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("a.yaml:7: "));
        EXPECT_THAT(error.what(), HasSubstr("no link links-1"));
        EXPECT_THAT(error.what(), HasSubstr("link-0_DOWN, link-0_UP, link-1_DOWN"));
    }
}

TEST(SimLinks, WhatMakesNoSenseIsRefused) {
    const auto refused = [](const LinkEvent& event) -> std::string {
        Platform platform = ideal(2);
        platform.link_events = {event};
        try {
            complete(platform);
        } catch (const Error& error) {
            return error.what();
        }
        return "taken";
    };
    EXPECT_EQ(refused(bandwidth(us(1), "link-0", 0.5)), "taken");
    EXPECT_THAT(refused(bandwidth(us(1), "link-0", 0)), HasSubstr("factor 0"));
    EXPECT_THAT(refused(latency(us(1), "link-0", -1)), HasSubstr("factor -1"));
    EXPECT_THAT(refused(bandwidth(us(1), "", 1)), HasSubstr("not clear"));
    EXPECT_THAT(refused(LinkEvent{.at = us(1), .link = "link-0"}), HasSubstr("not clear"));
    EXPECT_THAT(refused(bandwidth(us(-1), "link-0", 1)), HasSubstr("not clear"));
}

// Small and large messages, stealing and placed graphs, links that change all the time.
TEST(SimLinks, ChangesAreTheSameWithAnyNumberOfThreads) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const std::vector<std::shared_ptr<Crew>> crews = {std::make_shared<host::ThreadCrew>(2),
                                                      std::make_shared<host::ThreadCrew>(3)};
    Platform platform;
    platform.nodes = 7;
    platform.cores = 2;
    for (int i = 1; i < 30; ++i) {
        const std::string link = "link-" + std::to_string(i % 7);
        platform.link_events.push_back(bandwidth(us(7 * i), link, i % 3 == 0 ? 0.05 : 1.5));
        platform.link_events.push_back(latency(us(5 * i), link, i % 2 == 0 ? 20 : 0.5));
    }
    Platform still = platform;
    still.link_events.clear();
    const std::vector<StatedWorkload> workloads = {
        {"uts", {{"tree", "T1"}, {"depth", "6"}}},
        {"cholesky", {{"tiles", "8"}, {"tile_size", "32"}}, "etf"},
    };
    for (const StatedWorkload& workload : workloads) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const auto once = [&](const Platform& on, std::shared_ptr<Crew> crew) {
                runtime::Schedule schedule;
                schedule.seed = seed;
                return all_of(simulate(workload, on, schedule, {.crew = std::move(crew)}));
            };
            const auto alone = once(platform, nullptr);
            EXPECT_NE(alone, once(still, nullptr));
            for (const auto& crew : crews) EXPECT_EQ(alone, once(platform, crew)) << workload.name << seed;
        }
    }
}

}  // namespace
}  // namespace heddle::sim::testing
