// Tests the simulator's times: each test states a formula of the cost model and checks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

constexpr double tolerance = 0.01;

/// When the only message of `bytes` from node 0 arrives at node 1, departing at time zero.
Time arrival_of(const Platform& platform, std::uint64_t bytes) {
    Time arrival = never;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0 && context.id.core == 0) send(context, 1, bytes);
        },
        [&](Script&, Context& context, NodeId, auto) { arrival = now(context); });
    return arrival;
}

// time = latency + size / bandwidth, on both paths: 4096 bytes and more are shared by SimGrid.
TEST(SimPhysics, OneMessageTakesLatencyPlusSizeOverBandwidth) {
    for (const std::uint64_t bytes :
         {0UL, 1UL, 100UL, 1000UL, 4095UL, 4096UL, 5000UL, 65536UL, 1000000UL, 100000000UL}) {
        for (const auto topology : {Network::Topology::star, Network::Topology::fat_tree,
                                    Network::Topology::torus, Network::Topology::dragonfly}) {
            Platform platform = ideal(2);
            platform.network.topology = topology;
            const int links = topology == Network::Topology::torus ? 1 : 2;
            const double expected = links * 1e-6 + static_cast<double>(bytes) / 1e9;
            EXPECT_NEAR(to_seconds(arrival_of(platform, bytes)) / expected, 1, tolerance)
                << bytes << " bytes, " << name(topology);
        }
    }
}

// The two paths agree about a message that is alone: to a nanosecond.
TEST(SimPhysics, ALoneMessageTakesTheSameTimeOnBothPaths) {
    for (const std::uint64_t bytes : {1UL, 1000UL, 4096UL, 100000UL, 10000000UL}) {
        Platform small = ideal(2);
        small.network.small_message_bytes = bytes + 1;
        Platform large = ideal(2);
        large.network.small_message_bytes = 0;
        EXPECT_NEAR(static_cast<double>(arrival_of(small, bytes).count()),
                    static_cast<double>(arrival_of(large, bytes).count()), 1000)
            << bytes;
    }
}

// LV08: time = 13.01 latency + size / (0.97 bandwidth).
TEST(SimPhysics, LV08StretchesLatencyAndNarrowsBandwidth) {
    for (const std::uint64_t bytes : {1000UL, 1000000UL}) {
        Platform platform = ideal(2);
        platform.network.cost_model = Network::CostModel::LV08;
        const double expected = 13.01 * 2e-6 + static_cast<double>(bytes) / (0.97 * 1e9);
        EXPECT_NEAR(to_seconds(arrival_of(platform, bytes)) / expected, 1, tolerance) << bytes;
    }
}

// k senders into one link: k size / bandwidth + latency, for all of them, because they share it equally.
TEST(SimPhysics, EightSendersIntoOneLinkTakeEightTimesAsLong) {
    constexpr std::uint64_t bytes = 10000000;
    const auto last_of = [&](NodeId senders) {
        Time last{};
        NodeId came = 0;
        run(
            ideal(9),
            [&](Script&, Context& context) {
                if (context.id.node > 0 && context.id.node <= senders) send(context, 0, bytes);
            },
            [&](Script&, Context& context, NodeId, auto) {
                last = std::max(last, now(context));
                ++came;
            });
        EXPECT_EQ(came, senders);
        return to_seconds(last);
    };
    const double one = last_of(1);
    EXPECT_NEAR(one, 2e-6 + 0.01, 0.01 * tolerance);
    EXPECT_NEAR(last_of(8) / one, 8, 8 * tolerance);
    EXPECT_NEAR(last_of(3) / one, 3, 3 * tolerance);
}

// Overheads: arrival = enqueue + send + latency + size / bandwidth + receive.
// Without contention each of eight takes latency + size / bandwidth, as if it were alone.
TEST(SimPhysics, WithoutContentionEveryMessageHasTheNetworkToItself) {
    constexpr NodeId senders = 8;
    for (const std::uint64_t bytes : {1000UL, 1000000UL}) {
        Platform platform = ideal(senders + 1);
        platform.network.contention = Network::Contention::none;
        std::vector<Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id.node > 0) send(context, 0, bytes);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        EXPECT_EQ(arrivals, std::vector<Time>(senders, us(2) + ns(static_cast<std::int64_t>(bytes))));
    }
}

// Padding counts as bytes: on both paths, and where messages share nothing.
TEST(SimPhysics, PaddingTakesTheTimeOfItsBytes) {
    for (const auto contention :
         {Network::Contention::full, Network::Contention::exact, Network::Contention::none}) {
        for (const std::uint64_t padding : {1000UL, 1000000UL}) {
            Platform platform = ideal(2);
            platform.network.contention = contention;
            Time arrival = never;
            run(
                platform,
                [&](Script&, Context& context) {
                    if (context.id.node == 0)
                        context.backend->send(context, 1, runtime::Bytes(24), {.padding = padding});
                },
                [&](Script&, Context& context, NodeId, auto message) {
                    arrival = now(context);
                    EXPECT_EQ(message.size(), 24U);
                });
            const double expected = 2e-6 + static_cast<double>(padding + 24) * 1e-9;
            EXPECT_NEAR(to_seconds(arrival) / expected, 1, 1e-6) << padding;
        }
    }
}

TEST(SimPhysics, EveryOverheadOfAMessageIsPaidOnce) {
    for (const std::uint64_t bytes : {100UL, 100000UL}) {
        Platform platform = ideal(2);
        platform.overheads.message_enqueue = us(3);
        platform.overheads.message_send = us(50);
        platform.overheads.message_receive = us(700);
        const Time expected = us(3 + 50 + 2 + 700) + ns(static_cast<std::int64_t>(bytes));
        EXPECT_NEAR(to_seconds(arrival_of(platform, bytes)), to_seconds(expected), 1e-9);
    }
}

// The sender module is one thread of control: message i of n departs at (i + 1) send, if handed over at once;
// the worker goes on after n enqueue.
TEST(SimPhysics, TheSenderModuleSendsOneMessageAfterTheOther) {
    Platform platform = ideal(2);
    platform.overheads.message_enqueue = us(1);
    platform.overheads.message_send = us(100);
    std::vector<Time> arrivals;
    Time handed_over{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            for (int i = 0; i < 5; ++i) send(context, 1, 0);
            handed_over = now(context);
        },
        [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); },
        {.messages_compete_for_cores = false});
    EXPECT_EQ(handed_over, us(5));
    EXPECT_EQ(arrivals, (std::vector<Time>{us(103), us(203), us(303), us(403), us(503)}));
}

// Messages of k KiB cost their sender and their receiver k times what a KiB costs, beside the fixed cost;
// with a padding that is only declared as with bytes. So of n messages, one after the other, the i-th departs
// at (i + 1) (s + k c).
TEST(SimPhysics, SenderAndReceiverPayByTheByte) {
    Platform platform = ideal(2);
    platform.overheads.message_send = us(10);
    platform.overheads.message_send_kib = us(1);
    std::vector<Time> arrivals;
    const auto three = [&](Script&, Context& context) {
        if (context.id.node != 0) return;
        for (int i = 0; i < 3; ++i) send(context, 1, 64 << 10);
    };
    const auto note = [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); };
    run(platform, three, note, {.messages_compete_for_cores = false});
    ASSERT_EQ(arrivals.size(), 3U);
    // 64 KiB take 65.536 us on the link, less than their sender takes, and the latency is 2 us.
    const Time alone = us(10 + 64 + 2) + ns(64 << 10);
    EXPECT_NEAR(to_seconds(arrivals[0]), to_seconds(alone), 2e-9);
    EXPECT_NEAR(to_seconds(arrivals[1]), to_seconds(alone + us(74)), 2e-9);
    EXPECT_NEAR(to_seconds(arrivals[2]), to_seconds(alone + us(148)), 2e-9);

    platform.overheads.message_send_kib = {};
    platform.overheads.message_receive_kib = us(5);
    const Time expected = us(10 + 2) + ns(2048) + us(2 * 5);
    EXPECT_NEAR(to_seconds(arrival_of(platform, 2048)), to_seconds(expected), 1e-9);
}

// Through the memory of a machine the receiver reads while the sender writes, if it has nothing else to do.
TEST(SimPhysics, ReceiverReadsWhileASenderOfItsMachineWrites) {
    Platform platform = ideal(2);
    platform.processes = 2;
    platform.shared_memory = {us(2), 1e9};
    platform.overheads.message_send = us(10);
    platform.overheads.message_send_kib = us(3);
    platform.overheads.message_receive = us(1);
    platform.overheads.message_receive_kib = us(2);
    const Time transfer = ns(4096);
    EXPECT_EQ(arrival_of(platform, 4096), us(10 + 4 * 3) + transfer + us(2 + 1));
    platform.overheads.message_receive_kib = us(5);
    EXPECT_EQ(arrival_of(platform, 4096), us(10 + 4 * 5) + transfer + us(2 + 1));

    platform.overheads.message_receive_kib = us(7);
    std::vector<Time> arrivals;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            for (int i = 0; i < 2; ++i) send(context, 1, 4096);
        },
        [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); },
        {.messages_compete_for_cores = false});
    // The second has come 22 us after the first, which was being read for 17 of them: in 5 some was read.
    EXPECT_EQ(arrivals, (std::vector{us(24 + 29 - 12) + transfer, us(46 + 29 - 5) + transfer}));
}

// Both nodes send at time 0: a node's only core writes until then, so that it reads afterwards. A second core
// reads meanwhile.
TEST(SimPhysics, OneCoreDoesNotReadWhileItsSenderWrites) {
    for (const CoreId cores : {1, 2}) {
        Platform platform = ideal(2);
        platform.processes = 2;
        platform.cores = cores;
        platform.shared_memory = {us(2), 1e9};
        platform.overheads.message_send_kib = us(10);
        platform.overheads.message_receive_kib = us(10);
        std::vector<Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id.core == 0) send(context, 1 - context.id.node, 4096);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        const Time written = us(40), comes = written + ns(4096) + us(2);
        const Time expected = cores == 1 ? written + us(40) : comes;
        EXPECT_EQ(arrivals, (std::vector{expected, expected})) << cores;
    }
}

// A line between two sizes, the line from nothing below the first, the last line beyond.
TEST(SimPhysics, WhatBytesTakeIsStatedBySize) {
    Platform platform = ideal(2);
    platform.overheads.message_send = us(10);
    platform.overheads.message_send_kib = us(100);  // not where sizes are stated
    platform.overheads.message_bytes = {{1024, us(1), us(2)}, {3072, us(5), us(4)}};
    const auto ends = [&](std::uint64_t bytes) {
        return arrival_of(platform, bytes) - ns(static_cast<std::int64_t>(bytes)) - us(10 + 2);
    };
    EXPECT_NEAR(to_seconds(ends(512)), 1.5e-6, 1e-9);
    EXPECT_NEAR(to_seconds(ends(1024)), 3e-6, 1e-9);
    EXPECT_NEAR(to_seconds(ends(2048)), 6e-6, 1e-9);
    EXPECT_NEAR(to_seconds(ends(3072)), 9e-6, 1e-9);
    EXPECT_NEAR(to_seconds(ends(5120)), (9 + 6) * 1e-6, 2e-9);
    platform.overheads.message_bytes = {{1024, us(1), us(2)}};
    EXPECT_NEAR(to_seconds(ends(4096)), 12e-6, 2e-9);
    platform.overheads.message_bytes = {{1, last_moment, us(2)}};
    EXPECT_THAT([&] { ends(4096); }, ::testing::Throws<Error>());
}

TEST(SimPhysics, ACopyTooLongForVirtualTimeIsRefused) {
    Platform platform = ideal(2);
    platform.overheads.message_send_kib = last_moment / 2;
    EXPECT_THROW(arrival_of(platform, 4096), Error);
}

// The receiver module is one thread of control: messages that come together are delivered one `receive`
// apart.
TEST(SimPhysics, TheReceiverModuleReceivesOneMessageAfterTheOther) {
    Platform platform = ideal(5);
    platform.overheads.message_receive = us(10);
    std::vector<Time> deliveries;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) send(context, 0, 0);
        },
        [&](Script&, Context& context, NodeId, auto) { deliveries.push_back(now(context)); });
    EXPECT_EQ(deliveries, (std::vector<Time>{us(12), us(22), us(32), us(42)}));
}

// LogGP's gap: messages leave a node at least `gap` apart. Those that leave sooner than the link can carry
// them share it: four of 1 us each, all at once, take 4 us.
TEST(SimPhysics, MessagesLeaveANodeAGapApart) {
    const auto times = [](Time gap, std::uint64_t bytes) {
        Platform platform = ideal(3);
        platform.network.gap = gap;
        std::vector<Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                for (NodeId i = 0; context.id.node == 0 && i < 4; ++i) send(context, 1 + i % 2, bytes);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        return arrivals;
    };
    EXPECT_EQ(times(us(5), 0), (std::vector<Time>{us(2), us(7), us(12), us(17)}));
    EXPECT_EQ(times(Time{}, 1000), std::vector<Time>(4, us(6)));
    EXPECT_EQ(times(us(5), 1000), (std::vector<Time>{us(3), us(8), us(13), us(18)}));
}

TEST(SimPhysics, MessagesOfOneWorkerToOneNodeArriveInOrder) {
    std::vector<std::size_t> sizes;
    Platform platform = ideal(2);
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            for (const std::uint64_t bytes : {3000UL, 0UL, 2000UL, 1UL, 4000UL, 5UL}) send(context, 1, bytes);
        },
        [&](Script&, Context&, NodeId, auto message) { sizes.push_back(message.size()); });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3000, 0, 2000, 1, 4000, 5}));
}

TEST(SimPhysics, BytesArriveAsTheyWereSent) {
    for (const std::size_t bytes : {7UL, 70000UL}) {
        runtime::Bytes sent(bytes);
        for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 256);
        int came = 0;
        run(
            ideal(2),
            [&](Script&, Context& context) {
                if (context.id.node == 0) context.backend->send(context, 1, sent);
            },
            [&](Script&, Context&, NodeId from, auto message) {
                EXPECT_EQ(from, 0U);
                EXPECT_TRUE(std::equal(message.begin(), message.end(), sent.begin(), sent.end()));
                ++came;
            });
        EXPECT_EQ(came, 1);
    }
}

// n tasks of time t, one after the other: n t, exactly, and as many again on the other cores.
TEST(SimPhysics, ASerialChainTakesItsLength) {
    for (const CoreId cores : {1U, 3U}) {
        std::vector<Time> ends(cores);
        run(ideal(1, cores), [&](Script&, Context& context) {
            for (int i = 0; i < 1000; ++i) compute(context, busy(ns(1234)));
            ends[context.id.core] = now(context);
        });
        EXPECT_EQ(ends, std::vector<Time>(cores, ns(1234000)));
    }
}

// k workers that stream b bytes each from a memory of bandwidth m: k b / m.
TEST(SimPhysics, StreamingWorkersShareTheMemoryOfTheirNode) {
    for (const CoreId workers : {1U, 2U, 3U, 7U, 64U}) {
        std::vector<Time> ends(workers);
        run(ideal(2, workers), [&](Script&, Context& context) {
            if (context.id.node == 1) return;
            compute(context, {0, 1000});
            ends[context.id.core] = now(context);
        });
        EXPECT_EQ(ends, std::vector<Time>(workers, us(workers)));
    }
}

// A phase ends when both its flops and its bytes are done: max(flops / speed, bytes / share).
TEST(SimPhysics, APhaseEndsWithTheLaterOfFlopsAndBytes) {
    std::vector<Time> ends(2);
    run(ideal(1, 2), [&](Script&, Context& context) {
        // Together until both have had 1000 bytes, at 2 us; core 1 then computes until 5 us.
        compute(context, {context.id.core == 0 ? 500.0 : 5000.0, 1000});
        ends[context.id.core] = now(context);
    });
    EXPECT_EQ(ends, (std::vector<Time>{us(2), us(5)}));
}

// Mixed arrivals. A streams 3000 bytes from 0; B 1000 bytes from 1 us; 1 byte per ns. A is alone until 1 us
// (1000 served), both at half speed until B is done at 3 us (A: 2000), A alone until 4 us.
TEST(SimPhysics, WhoComesToTheMemoryLaterSlowsDownWhoIsThere) {
    std::vector<Time> ends(3);
    run(ideal(1, 3), [&](Script&, Context& context) {
        if (context.id.core == 0) compute(context, {0, 3000});
        if (context.id.core == 1) {
            compute(context, busy(us(1)));
            compute(context, {0, 1000});
        }
        if (context.id.core == 2)
            compute(context, busy(ns(7777)));  // computes only: slows no other core down
        ends[context.id.core] = now(context);
    });
    EXPECT_EQ(ends, (std::vector<Time>{us(4), us(3), ns(7777)}));
}

// Where every core is busy a message takes its time from one of them: 10 us of sending make 100 us of work
// 110 us.
TEST(SimPhysics, MessagesTakeTimeFromABusyCoreOnlyWhereNoneIsIdle) {
    const auto end_of_work = [](CoreId idle, bool compete) {
        Platform platform = ideal(2, 1 + idle);
        platform.overheads.message_receive = us(10);
        Time end{};
        run(platform,
            [&](Script&, Context& context) {
                if (context.id.node == 1) {
                    if (context.id.core == 0) send(context, 0, 0);
                } else if (context.id.core > 0) {
                    context.backend->park(context, us(500));
                } else {
                    compute(context, busy(us(100)));
                    end = now(context);
                }
            },
            {}, {.messages_compete_for_cores = compete});
        return end;
    };
    EXPECT_EQ(end_of_work(0, true), us(110));
    EXPECT_EQ(end_of_work(1, true), us(100));
    EXPECT_EQ(end_of_work(0, false), us(100));
}

TEST(SimPhysics, HostsOfDifferentSpeedAndDefaultCores) {
    Platform platform = ideal(1);
    platform.cores = 0;
    platform.stated_cores = false;
    SimBackend backend(platform);
    EXPECT_EQ(backend.topology().cores, 1U);
    EXPECT_EQ(backend.platform().cores, 1U);
}

}  // namespace
}  // namespace heddle::sim::testing
