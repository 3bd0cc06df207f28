// Tests nodes that become slower, stop and return: each test states a formula and checks it. The times are
// calculated by hand from docs/simulator.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/sim_nodes.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;

std::string error_of(const Platform& platform, const Script::Body& body) {
    try {
        run(platform, body);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

// --- changes of speed

// 10 us of work: 4 us at full speed, the other 6 at half speed take 12: 16 us.
TEST(SimEvents, WorkUnderWayTakesItsRestAtTheNewSpeed) {
    Platform platform = ideal(2, 2);
    platform.events = {speed(us(4), 1, 0.5)};
    EXPECT_EQ(ends_of(platform, busy(us(10))), (std::vector<Time>{us(10), us(10), us(16), us(16)}));
}

// Factors are of the speed at first, not of the last one: 2 us of work until 2 us; 1 until 4; 8 until 6.
TEST(SimEvents, EveryChangeIsAFactorOfTheFirstSpeed) {
    Platform platform = ideal(1);
    platform.events = {speed(us(4), 0, 4), speed(us(2), 0, 0.5), speed(us(6), 0, 1)};  // in any order
    EXPECT_EQ(ends_of(platform, busy(us(11))).at(0), us(6));
    EXPECT_EQ(ends_of(platform, busy(us(13))).at(0), us(8));
    // 3 us of work until 4 us, then a 4th of its time for what is left.
    EXPECT_EQ(ends_of(platform, busy(us(7))).at(0), us(5));
}

TEST(SimEvents, AChangeBeforeTheWorkBeginsHolds) {
    Platform platform = ideal(1);
    platform.events = {speed(us(1), 0, 0.1)};
    Time end{};
    run(platform, [&](Script&, Context& context) {
        sleep_until(context, us(5));
        compute(context, busy(us(2)));
        end = now(context);
    });
    EXPECT_EQ(end, us(25));
}

// The memory is as fast as before: 5 us of bytes, 3 us of flops at a tenth of the speed.
TEST(SimEvents, AChangeOfSpeedIsOfTheCoresNotOfTheMemory) {
    Platform platform = ideal(1);
    platform.events = {speed(Time::zero(), 0, 0.1)};
    EXPECT_EQ(ends_of(platform, {100, 5000}).at(0), us(5));
    EXPECT_EQ(ends_of(platform, {3000, 5000}).at(0), us(30));
}

// --- stops

// 10 us of work, stopped from 4 to 104 us: 110 us, also where the work streams, and where it is both.
TEST(SimEvents, AStoppedNodeGoesOnWhereItWas) {
    Platform platform = ideal(2, 2);
    platform.events = {stop(us(4), 1), go_on(us(104), 1)};
    for (const runtime::Work& work :
         {busy(us(10)), runtime::Work{0, 5000}, runtime::Work{4000, 5000}, runtime::Work{10000, 3000}}) {
        EXPECT_EQ(ends_of(platform, work), (std::vector<Time>{us(10), us(10), us(110), us(110)}));
    }
}

// Two streams of 5 us, one after the other, the first of them stopped from 4 to 104 us; then two at once.
TEST(SimEvents, TheMemoryServesAsBeforeAfterAStop) {
    Platform platform = ideal(1, 2);
    platform.events = {stop(us(4), 0), go_on(us(104), 0)};
    std::vector<Time> ends;
    run(platform, [&](Script&, Context& context) {
        if (context.id.core == 0) {
            for (int i = 0; i < 3; ++i) {
                compute(context, {0, 5000});
                ends.push_back(now(context));
            }
        } else {
            sleep_until(context, us(110));
            compute(context, {0, 5000});
        }
    });
    EXPECT_EQ(ends, (std::vector<Time>{us(105), us(110), us(120)}));
}

// A receiver that polls leaves the only worker a whole core.
TEST(SimEvents, AStoppedNodeGoesOnWhereItWasBesideAReceiverThatPolls) {
    Platform platform = ideal(2, 2);
    Time end{};
    const auto alone = [&](Script&, Context& context) {
        if (context.id.node == 0 || context.id.core > 0) return;
        compute(context, busy(us(10)));
        end = now(context);
    };
    platform.events = {stop(us(4), 1), go_on(us(104), 1)};
    run(platform, alone, {}, {.receiver_polls = true});
    EXPECT_EQ(end, us(110));
    platform.events = {stop(us(4), 1)};
    EXPECT_THROW(run(platform, alone, {}, {.receiver_polls = true}), Error);
}

// Stopped from 10 to 60 us: a message that comes at 30 us wakes the worker at 60, one at 102 us at once.
TEST(SimEvents, AMessageWakesAWorkerThatPollsAfterAStop) {
    for (const auto& [departure, woken] : {std::pair(us(28), us(60)), std::pair(us(100), us(102))}) {
        Platform platform = ideal(2);
        platform.events = {stop(us(10), 1), go_on(us(60), 1)};
        Time got{};
        run(
            platform,
            [&, time = departure](Script&, Context& context) {
                if (context.id.node == 0) {
                    sleep_until(context, time);
                    send(context, 1, 0);
                }
                while (context.id.node == 1 && got == Time::zero()) context.backend->park(context, never);
            },
            [&](Script&, Context& context, NodeId, auto) {
                got = now(context);
                context.backend->unpark(context, 0);
            },
            {.single_module = true});
        EXPECT_EQ(got, woken);
    }
}

TEST(SimEvents, ANodeThatJoinsAfterAStopBeginsAtOnce) {
    for (const auto& [joins, begins] : {std::pair(us(30), us(60)), std::pair(us(100), us(100))}) {
        Platform platform = ideal(2);
        platform.nodes_at_start = 1;
        platform.events = {stop(us(10), 1), go_on(us(60), 1), {.at = joins, .node = 1, .member = true}};
        Time began{};
        run(platform, [&](Script&, Context& context) {
            if (context.id.node == 1) began = now(context);
        });
        EXPECT_EQ(began, begins);
    }
}

// A worker's own operations stop as well: 1 us each, ten of them.
TEST(SimEvents, WhatIsChargedWaitsForTheReturn) {
    Platform platform = ideal(1);
    platform.events = {stop(ns(4500), 0), go_on(ns(104500), 0), stop(us(106), 0), go_on(us(206), 0)};
    std::vector<Time> times;
    run(platform, [&](Script&, Context& context) {
        for (int i = 0; i < 10; ++i) {
            context.charge(us(1));
            times.push_back(now(context));
        }
    });
    EXPECT_EQ(times, (std::vector<Time>{us(1), us(2), us(3), us(4), us(105), us(206), us(207), us(208),
                                        us(209), us(210)}));
}

// Stopped from 3 to 9 us, at half speed from 5 us: 3 us of the work until 3, 7 at half speed from 9 on.
TEST(SimEvents, TheSpeedMayChangeWhileANodeIsStopped) {
    Platform platform = ideal(1);
    platform.events = {stop(us(3), 0), speed(us(5), 0, 0.5), go_on(us(9), 0)};
    EXPECT_EQ(ends_of(platform, busy(us(10))).at(0), us(9 + 14));
}

// A deadline is a time of day: one that has passed is seen at the return, others do not move.
TEST(SimEvents, DeadlinesDoNotMove) {
    Platform platform = ideal(2);
    platform.events = {stop(us(3), 1), go_on(us(9), 1)};
    const auto wake = [&](Time deadline) {
        Time woken{};
        run(platform, [&](Script&, Context& context) {
            if (context.id.node == 0) return;
            sleep_until(context, deadline);
            woken = now(context);
        });
        return woken;
    };
    EXPECT_EQ(wake(us(2)), us(2));
    EXPECT_EQ(wake(us(3)), us(9));
    EXPECT_EQ(wake(us(5)), us(9));
    EXPECT_EQ(wake(us(11)), us(11));
}

// Messages of 2 us on the way, received for 1 us each. Those that arrive at 2, 3, 4 us: node 1 is stopped
// from 2.5 to 50 us. The first has half a microsecond of its receiving before that.
TEST(SimEvents, WhatArrivesAtAStoppedNodeWaits) {
    for (const auto contention : {Network::Contention::full, Network::Contention::none}) {
        Platform platform = ideal(2);
        platform.network.contention = contention;
        platform.overheads.message_receive = us(1);
        platform.events = {stop(ns(2500), 1), go_on(us(50), 1)};
        std::vector<Time> deliveries;
        run(
            platform,
            [&](Script&, Context& context) {
                for (int i = 0; context.id.node == 0 && i < 3; ++i) {
                    send(context, 1, 0);
                    compute(context, busy(us(1)));
                }
            },
            [&](Script&, Context& context, NodeId, auto) { deliveries.push_back(now(context)); });
        EXPECT_EQ(deliveries, (std::vector<Time>{ns(50500), ns(51500), ns(52500)}));
    }
}

// The sender module stops in the middle of the second of two messages, 10 us each: stopped from 15 to 100 us.
TEST(SimEvents, WhatAStoppedNodeIsSendingDepartsAfterItsReturn) {
    Platform platform = ideal(2);
    platform.overheads.message_send = us(10);
    platform.events = {stop(us(15), 0), go_on(us(100), 0)};
    std::vector<Time> deliveries;
    run(
        platform,
        [&](Script&, Context& context) {
            for (int i = 0; context.id.node == 0 && i < 2; ++i) send(context, 1, 0);
        },
        [&](Script&, Context& context, NodeId, auto) { deliveries.push_back(now(context)); },
        {.messages_compete_for_cores = false});
    EXPECT_EQ(deliveries, (std::vector<Time>{us(12), us(107)}));
}

// Without modules the worker sends, 10 us each: stopped from 15 to 100 us, in the second message.
TEST(SimEvents, AWorkerThatSendsIsLateByTheStopOnce) {
    Platform platform = ideal(2);
    platform.overheads.message_send = us(10);
    platform.events = {stop(us(15), 0), go_on(us(100), 0)};
    Time after{};
    run(platform,
        [&](Script&, Context& context) {
            if (context.id.node != 0) return;
            for (int i = 0; i < 2; ++i) send(context, 1, 0);
            compute(context, busy(us(3)));
            after = now(context);
        },
        {}, {.single_module = true});
    EXPECT_EQ(after, us(100 + 5 + 3));
}

// A wake-up of 5 us that begins at 1 us: stopped from 2 to 10 us, woken at 14.
TEST(SimEvents, AWakeUpStopsToo) {
    Platform platform = ideal(1, 2);
    platform.overheads.wake_up = us(5);
    platform.events = {stop(us(2), 0), go_on(us(10), 0)};
    Time woken{};
    run(platform, [&](Script&, Context& context) {
        if (context.id.core == 0) {
            compute(context, busy(us(1)));
            context.backend->unpark(context, 1);
        } else {
            context.backend->park(context, never);
            woken = now(context);
        }
    });
    EXPECT_EQ(woken, us(14));
}

// --- stops for ever

const Script::Body ten_microseconds = [](Script&, Context& context) { compute(context, busy(us(10))); };

TEST(SimEvents, ANodeThatStopsForEverWithWorkLeftEndsTheRunWithAnError) {
    Platform platform = ideal(2, 2);
    platform.events = {stop(us(4), 1)};
    EXPECT_THAT(
        error_of(platform, ten_microseconds),
        HasSubstr("deadlock: node 1 stopped for ever at 4us, and 2 of its workers have not finished"));
    platform.events = {stop(us(1), 1), go_on(us(2), 1), stop(us(5), 1)};
    EXPECT_THAT(error_of(platform, ten_microseconds), HasSubstr("at 5us"));
    // Others that never rest do not keep the run going.
    EXPECT_THAT(error_of(platform,
                         [](Script&, Context& context) {
                             for (Time time = us(1); context.id.node == 0; time += us(1))
                                 sleep_until(context, time);
                             compute(context, busy(us(10)));
                         }),
                HasSubstr("deadlock: node 1 stopped for ever"));
}

TEST(SimEvents, ANodeThatNeverJoinsMayStopForEver) {
    Platform platform = ideal(2, 2);
    platform.nodes_at_start = 1;
    platform.events = {stop(us(4), 1)};
    EXPECT_EQ(error_of(platform, ten_microseconds), "no error");
}

TEST(SimEvents, ANodeThatHasFinishedMayStopForEver) {
    Platform platform = ideal(2);
    platform.events = {stop(us(10), 1)};
    EXPECT_EQ(error_of(platform,
                       [](Script&, Context& context) {
                           compute(context, busy(us(context.id.node == 0 ? 100 : 9)));
                       }),
              "no error");
    // But no node may write to it.
    EXPECT_THAT(error_of(platform,
                         [](Script&, Context& context) {
                             compute(context, busy(us(context.id.node == 0 ? 100 : 9)));
                             if (context.id.node == 0) send(context, 1, 10);
                         }),
                HasSubstr("there are messages that it has not sent or received"));
    platform.overheads.message_send = us(50);
    EXPECT_THAT(error_of(platform,
                         [](Script&, Context& context) {
                             if (context.id.node == 1) send(context, 0, 10);
                         }),
                HasSubstr("there are messages that it has not sent or received"));
}

}  // namespace
}  // namespace heddle::sim::testing
