// Tests what waking a simulated worker costs, and which context pays. Each test states its formula.
#include <gtest/gtest.h>

#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

Platform platform_of(CoreId cores) {
    Platform platform = ideal(1, cores);
    platform.overheads.wake_up = us(2);
    platform.overheads.wake_up_deep = us(50);
    platform.overheads.deep_sleep = us(20);
    return platform;
}

/// How long after the unpark worker 1 goes on if it has slept for `slept`.
Time wake_up_after(Time slept, const Platform& platform, const SimOptions& options = {}) {
    Time woken{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.core == 1) {
                compute(context, busy(us(3)));
                context.backend->park(context, never);
                woken = now(context);
            } else {
                compute(context, busy(us(3) + slept));
                context.backend->unpark(context, 1);
            }
        },
        {}, options);
    return woken - us(3) - slept;
}

// wake_up, and wake_up_deep in addition after a sleep of deep_sleep or longer.
TEST(SimWake, ADeepSleeperTakesLonger) {
    const Platform platform = platform_of(2);
    EXPECT_EQ(wake_up_after(us(1), platform), us(2));
    EXPECT_EQ(wake_up_after(us(20) - Time(1), platform), us(2));
    EXPECT_EQ(wake_up_after(us(20), platform), us(52));
    EXPECT_EQ(wake_up_after(us(1000), platform), us(52));
    Platform shallow = platform;
    shallow.overheads.wake_up_deep = Time::zero();
    EXPECT_EQ(wake_up_after(us(1000), shallow), us(2));
}

// wake_up_asleep in addition once the worker looks no more.
TEST(SimWake, AWorkerLooksBeforeItSleeps) {
    Platform platform = platform_of(2);
    platform.overheads.wake_up_asleep = us(7);
    SimOptions options;
    options.looks = us(4);
    EXPECT_EQ(wake_up_after(us(4) - Time(1), platform, options), us(2));
    EXPECT_EQ(wake_up_after(us(4), platform, options), us(9));
    EXPECT_EQ(wake_up_after(us(20), platform, options), us(59));
}

/// When node 1 handles a message that arrives after 2 us, and when its worker goes on that the handler wakes.
std::pair<Time, Time> handled_and_woken(bool computes, Time looks, Time receiver_looks) {
    Platform platform = ideal(2);
    platform.overheads.wake_up = us(1);
    platform.overheads.wake_up_message = us(3);
    platform.overheads.wake_up_asleep = us(7);
    SimOptions options;
    options.looks = looks;
    options.receiver_looks = receiver_looks;
    Time handled{}, woken{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) return send(context, 1, 0);
            if (computes) compute(context, busy(us(20)));
            while (handled == Time::zero()) context.backend->park(context, never);
            woken = now(context);
        },
        [&](Script&, Context& context, NodeId, auto) {
            handled = now(context);
            context.backend->unpark(context, 0);
        },
        options);
    return {handled, woken};
}

// A receiver is awake while its worker, or the receiver itself, looks. Else it wakes first. A worker that
// rests is the receiver: it wakes once.
TEST(SimWake, AReceiverThatSleepsWakesForTheMessage) {
    EXPECT_EQ(handled_and_woken(false, us(100), us(0)), std::pair(us(2), us(6)));
    EXPECT_EQ(handled_and_woken(false, us(1), us(100)), std::pair(us(2), us(6)));
    EXPECT_EQ(handled_and_woken(false, us(1), us(0)), std::pair(us(9), us(13)));
    EXPECT_EQ(handled_and_woken(true, us(100), us(100)), std::pair(us(9), us(20)));
}

/// When worker 0 of node 1 goes on, which sleeps while the disk reads for 100 us. Before, the node receives a
/// message whose handler wakes nothing, or none.
Time woken_by_the_disk(bool after_a_message) {
    Platform platform = ideal(2);
    platform.disk.latency = us(100);
    platform.overheads.wake_up_message = us(3);
    platform.overheads.wake_up_asleep = us(7);
    SimOptions options;
    options.looks = us(1);
    Time woken{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0 && after_a_message) return send(context, 1, 0);
            if (context.id.node == 0) return;
            bool done = false;
            context.backend->io(
                context, 0, [] {},
                [&done](Context& receiver) {
                    done = true;
                    receiver.backend->unpark(receiver, 0);
                });
            while (!done) context.backend->park(context, never);
            woken = now(context);
        },
        [](Script&, Context&, NodeId, auto) {}, options);
    return woken;
}

// The disk wakes a worker that sleeps, which an earlier message did not wake.
TEST(SimWake, AMessageThatWakesNothingSparesNoLaterWakeUp) {
    EXPECT_EQ(woken_by_the_disk(false), us(110));
    EXPECT_EQ(woken_by_the_disk(true), us(110));
}

/// Two nodes of some cores. Worker 0 of node 1 receives itself until a message has come, for `most`; what its
/// other workers do meanwhile. Returns when it goes on.
Time received(CoreId cores, Time most, bool sends, const std::function<void(Context&, bool& came)>& others) {
    Platform platform = ideal(2, cores);
    platform.overheads.wake_up = us(1);
    platform.overheads.wake_up_message = us(3);
    platform.overheads.wake_up_receiving = Time(500);
    Time woken{};
    bool came = false;
    run(
        platform,
        [&](Script&, Context& context) {
            EXPECT_TRUE(context.backend->topology().receives);
            if (sends && context.id == WorkerId{0, 0}) return send(context, 1, 0);
            if (context.id.node == 0) return;
            if (context.id.core != 0) return others(context, came);
            context.backend->receive(context, most, [&] { return came; });
            woken = now(context);
        },
        [&](Script&, Context&, NodeId, auto) { came = true; });
    return woken;
}

// wake_up_receiving after the handler; no wake_up.
TEST(SimWake, AWorkerThatReceivesGoesOnAfterTheHandler) {
    const auto none = [](Context&, bool&) {};
    EXPECT_EQ(received(1, us(100), true, none), us(2) + Time(500));
    EXPECT_EQ(received(2, us(100), true, none), us(2) + Time(500));
    EXPECT_EQ(received(1, us(1), true, none), us(1));
    EXPECT_EQ(received(1, us(7), false, none), us(7));
}

// Another worker of the node ends the wait, or wakes it as a worker that parks.
TEST(SimWake, AWorkerThatReceivesSeesItsNode) {
    const Time ended = received(2, us(100), false, [](Context& context, bool& came) {
        compute(context, busy(us(5)));
        came = true;
    });
    EXPECT_GE(ended, us(5));
    EXPECT_LE(ended, us(6));
    EXPECT_EQ(received(2, us(100), false,
                       [](Context& context, bool&) {
                           compute(context, busy(us(5)));
                           context.backend->unpark(context, 0);
                       }),
              us(6));
}

// Where the platform does not say what it takes, no worker does.
TEST(SimWake, WorkersReceiveWhereThePlatformSaysSo) {
    EXPECT_FALSE(SimBackend(ideal(2), {}).topology().receives);
}

/// Nodes 0 and 1 of one machine. Node 0 sends a message at 30 us and one right after it. Returns when it has
/// done so, and when node 1's worker is done, which works for 60 us from 20 us on: it has rested before.
std::pair<Time, Time> sent_and_worked(const Platform& machine, bool declared, Time rests) {
    Platform platform = machine;
    platform.nodes = platform.processes = 2;
    platform.shared_memory.latency = us(1);
    SimOptions options;
    options.looks = us(1);
    options.receiver_looks = us(15);
    Time sent{}, worked{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) {
                compute(context, busy(us(30)));
                for (int i = 0; i < 2; ++i) send(context, 1, 0);
                sent = now(context);
                return;
            }
            sleep_until(context, rests);
            compute(context, busy(us(20) - rests));
            if (declared) compute(context, busy(us(60)));
            if (!declared) context.charge(us(60));
            context.charge(Time::zero());
            worked = now(context);
        },
        [&](Script&, Context&, NodeId, auto) {}, options);
    return {sent, worked};
}

// A sender pays message_rouse if the receiver sleeps, is on its machine, and is not being woken. If all cores
// of the receiver's node are at work, one loses message_interrupt.
TEST(SimWake, ASleepingReceiverCostsBothEnds) {
    Platform platform = ideal(2);
    platform.overheads.message_rouse = us(5);
    platform.overheads.message_interrupt = us(4);
    platform.overheads.wake_up_asleep = us(7);
    EXPECT_EQ(sent_and_worked(platform, true, us(2)), std::pair(us(35), us(84)));
    EXPECT_EQ(sent_and_worked(platform, false, us(2)), std::pair(us(35), us(84)));
    // It has rested less than receiver_looks ago, so it will look again soon; not if it computes.
    EXPECT_EQ(sent_and_worked(platform, false, us(20)), std::pair(us(30), us(80)));
    EXPECT_EQ(sent_and_worked(platform, true, us(20)), std::pair(us(35), us(84)));
}

/// How long node 1's worker needs for five pieces of work of `piece`, after each of which it rests for 10 us
/// or looks for messages in passing, and one of 60 us, during which a message comes.
Time worked_after(Time piece, bool rests) {
    Platform platform = ideal(2);
    platform.processes = 2;
    platform.shared_memory.latency = us(1);
    platform.overheads.message_interrupt = us(4);
    SimOptions options;
    options.looks = options.receiver_looks = us(1);
    const Time before = (piece + (rests ? us(10) : Time::zero())) * 5;
    Time worked{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) {
                compute(context, busy(before + us(30)));
                return send(context, 1, 0);
            }
            for (int i = 0; i < 5; ++i) {
                compute(context, busy(piece));
                if (rests) sleep_until(context, now(context) + us(10));
                if (!rests) context.backend->poll(context);
            }
            compute(context, busy(us(60)));
            context.charge(Time::zero());
            worked = now(context) - before;
        },
        [&](Script&, Context&, NodeId, auto) {}, options);
    return worked;
}

// A worker that has rested within 250 us again and again is expected to do so once more: natively the
// receiver thread naps then, and takes no core from it.
TEST(SimWake, AWorkerThatReturnsSoonLosesNothing) {
    EXPECT_EQ(worked_after(us(50), true), us(60));
    EXPECT_EQ(worked_after(us(300), true), us(64));
}

// The same for one that looks in passing. Workers should where all nodes are on one machine, and waking the
// receiver takes time.
TEST(SimWake, AWorkerThatLooksInPassingLosesNothing) {
    EXPECT_EQ(worked_after(us(50), false), us(60));
    EXPECT_EQ(worked_after(us(300), false), us(64));
    Platform platform = ideal(2);
    const auto polled = [&] {
        bool in_passing = false;
        run(platform,
            [&](Script&, Context& context) { in_passing = context.backend->topology().polled_in_passing; });
        return in_passing;
    };
    platform.processes = 2;
    EXPECT_FALSE(polled());
    platform.overheads.message_interrupt = us(4);
    EXPECT_TRUE(polled());
    platform.processes = 1;
    EXPECT_FALSE(polled());
}

// A sleep ends with its park: a worker that parks again sleeps lightly again.
TEST(SimWake, EachSleepCountsByItself) {
    std::vector<Time> woken;
    run(platform_of(2), [&](Script&, Context& context) {
        for (int i = 0; i < 3; ++i) {
            if (context.id.core == 1) {
                context.backend->park(context, never);
                woken.push_back(now(context));
            } else {
                constexpr std::int64_t pauses[] = {10, 100, 60};
                compute(context, busy(us(pauses[i])));
                context.backend->unpark(context, 1);
            }
        }
    });
    EXPECT_EQ(woken, (std::vector{us(12), us(162), us(172)}));
}

/// When the waker and the worker that has slept for 10 us go on.
std::pair<Time, Time> waker_and_woken(const Platform& platform) {
    Time waker{}, woken{};
    run(platform, [&](Script&, Context& context) {
        if (context.id.core == 1) {
            context.backend->park(context, never);
            woken = now(context);
            compute(context, busy(us(100)));
        } else {
            compute(context, busy(us(10)));
            context.backend->unpark(context, 1);
            compute(context, busy(us(10)));
            context.backend->unpark(context, 1);  // at work: it gets a permit
            compute(context, busy(us(10)));
            waker = now(context);
        }
    });
    return {waker, woken};
}

// The waker pays `unpark` before its next operation; the woken worker does not wait for that. Waking a worker
// that does not sleep costs nothing.
TEST(SimWake, TheWakerPays) {
    Platform platform = platform_of(2);
    platform.overheads.unpark = us(5);
    platform.overheads.deep_sleep = us(10);
    EXPECT_EQ(waker_and_woken(platform), std::pair(us(35), us(62)));
    platform.overheads.wake_up_deep = Time::zero();
    EXPECT_EQ(waker_and_woken(platform), std::pair(us(35), us(12)));
}

// A worker that has not slept for deep_sleep still looks: a write wakes it.
TEST(SimWake, WakingAWorkerThatLooksCostsNothing) {
    Platform platform = platform_of(2);
    platform.overheads.unpark = us(5);
    platform.overheads.deep_sleep = us(10) + Time(1);
    EXPECT_EQ(waker_and_woken(platform), std::pair(us(30), us(12)));
}

// A handler's wake-up is paid by the receiver module: the next message waits for it.
TEST(SimWake, TheReceiverPaysForItsHandlers) {
    Platform platform = ideal(2);
    platform.overheads.unpark = us(5);
    std::vector<Time> handled;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) {
                for (int i = 0; i < 3; ++i) send(context, 1, 0);
            } else {
                while (handled.size() < 3) context.backend->park(context, never);
            }
        },
        [&](Script&, Context& context, NodeId, auto) {
            handled.push_back(now(context));
            context.backend->unpark(context, 0);
        });
    // The worker sleeps again at once, so each handler wakes it.
    EXPECT_EQ(handled, (std::vector{us(2), us(7), us(12)}));
}

}  // namespace
}  // namespace heddle::sim::testing
