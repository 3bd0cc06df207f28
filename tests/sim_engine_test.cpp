// Tests a simulated node: workers take turns in the order of virtual time, and park and wake at exact times.
// A simulation that cannot go on is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;

TEST(SimEngine, WorkersActInTheOrderOfTime) {
    std::vector<std::pair<Time, CoreId>> log;
    run(ideal(1, 4), [&](Script&, Context& context) {
        for (int i = 0; i < 100; ++i) {
            context.charge(ns(10 + 7 * context.id.core));
            log.emplace_back(now(context), context.id.core);
        }
    });
    ASSERT_EQ(log.size(), 400U);
    for (std::size_t i = 1; i < log.size(); ++i) EXPECT_LE(log[i - 1].first, log[i].first);
    EXPECT_EQ(log.back().first, ns(100 * 31));
}

TEST(SimEngine, ParkEndsAtItsDeadline) {
    std::vector<Time> times;
    run(ideal(1), [&](Script&, Context& context) {
        for (const std::int64_t deadline : {5, 7, 7, 3, 100}) {
            context.backend->park(context, us(deadline));
            times.push_back(now(context));
        }
    });
    EXPECT_EQ(times, (std::vector<Time>{us(5), us(7), us(7), us(7), us(100)}));
}

// Woken at (clock of the waker) + wake_up.
TEST(SimEngine, UnparkWakesAfterTheWakeUpTime) {
    Platform platform = ideal(1, 2);
    platform.overheads.wake_up = ns(1500);
    Time woken{};
    run(platform, [&](Script&, Context& context) {
        if (context.id.core == 0) {
            context.backend->park(context, never);
            woken = now(context);
        } else {
            compute(context, busy(us(4)));
            context.backend->unpark(context, 0);
            compute(context, busy(us(4)));
        }
    });
    EXPECT_EQ(woken, us(4) + ns(1500));
}

TEST(SimEngine, AnUnparkBeforeTheParkIsNotLostAndSeveralCountOnce) {
    std::vector<Time> times;
    run(ideal(1, 2), [&](Script&, Context& context) {
        if (context.id.core == 0) {
            compute(context, busy(us(10)));
            context.backend->park(context, us(50));
            times.push_back(now(context));
            context.backend->park(context, us(50));
            times.push_back(now(context));
        } else {
            for (int i = 0; i < 3; ++i) context.backend->unpark(context, 0);
        }
    });
    EXPECT_EQ(times, (std::vector<Time>{us(10), us(50)}));
}

TEST(SimEngine, AnOldDeadlineWakesNobody) {
    std::vector<Time> times;
    run(ideal(1, 2), [&](Script&, Context& context) {
        if (context.id.core == 0) {
            context.backend->park(context, us(20));  // unparked at 5 us
            times.push_back(now(context));
            context.backend->park(context, us(100));  // not ended by the deadline of the first
            times.push_back(now(context));
        } else {
            compute(context, busy(us(5)));
            context.backend->unpark(context, 0);
        }
    });
    EXPECT_EQ(times, (std::vector<Time>{us(5), us(100)}));
}

TEST(SimEngine, AHandlerWakesAWorkerAtItsOwnTime) {
    Platform platform = ideal(2);
    platform.overheads.message_receive = us(1);
    platform.overheads.wake_up = us(3);
    Time woken{};
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) return send(context, 1, 0);
            context.backend->park(context, never);
            woken = now(context);
        },
        [&](Script&, Context& context, NodeId, auto) {
            context.charge(us(10));
            context.backend->unpark(context, 0);
        });
    EXPECT_EQ(woken, us(2 + 1 + 10 + 3));
}

TEST(SimEngine, ComputeRunsItsCodeOnceAndThenTakesTheTime) {
    int runs = 0;
    Time inside = never;
    run(ideal(1), [&](Script&, Context& context) {
        context.backend->compute(context, busy(us(3)), [&] {
            ++runs;
            inside = now(context);
        });
        EXPECT_EQ(now(context), us(3));
    });
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(inside, us(0));
}

TEST(SimEngine, TheGateIsClosedAndCostsAreCharged) {
    Platform platform = ideal(3, 2);
    platform.overheads = Overheads::defaults();
    SimBackend backend(platform);
    EXPECT_FALSE(backend.topology().gates_open);
    EXPECT_EQ(backend.topology().nodes, 3U);
    EXPECT_EQ(backend.topology().cores, 2U);
    int contexts = 0;
    run(backend, [&](Script& script, Context& context) {
        EXPECT_EQ(context.costs->steal, Overheads::defaults().steal);
        EXPECT_EQ(context.backend, &backend);
        EXPECT_EQ(script.context(2).id.core, 2U);
        ++contexts;
    });
    EXPECT_EQ(contexts, 6);
}

TEST(SimEngine, ElapsedTimeGrowsWithTheSimulation) {
    SimBackend backend(ideal(1));
    Time before{};
    run(backend, [&](Script&, Context& context) {
        compute(context, busy(us(100000)));
        before = context.backend->elapsed();
    });
    EXPECT_GT(before, us(90000));
    EXPECT_LE(before, us(100000));
}

TEST(SimEngine, ADeadlockIsReportedWithTheNumberOfParkedWorkers) {
    try {
        run(ideal(3, 2), [](Script&, Context& context) {
            if (context.id.node < 2) context.backend->park(context, never);
        });
        FAIL() << "it did not end";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("deadlock: 4 workers on 2 nodes"));
    }
}

TEST(SimEngine, WhatAWorkerThrowsComesOutAndTheOthersAreUnwound) {
    int unwound = 0;
    struct Count {
        int& count;
        ~Count() { ++count; }
    };
    const auto body = [&](Script&, Context& context) {
        const Count count{unwound};
        if (context.id == WorkerId{1, 1}) {
            compute(context, busy(us(10)));
            throw std::runtime_error("worker 1 of node 1");
        }
        context.backend->park(context, never);
    };
    EXPECT_THROW(run(ideal(2, 3), body), std::runtime_error);
    EXPECT_EQ(unwound, 6);
}

TEST(SimEngine, WhatAHandlerThrowsComesOut) {
    const auto handler = [](Script&, Context&, NodeId, auto) { throw std::runtime_error("handler"); };
    const auto body = [](Script&, Context& context) {
        if (context.id.node == 0) send(context, 1, 8);
    };
    EXPECT_THROW(run(ideal(2), body, handler), std::runtime_error);
}

// With a single module, of a message that waits until the node's last worker has left.
TEST(SimEngine, AlsoWhatItThrowsOnTheStackOfAWorkerThatEnds) {
    const auto handler = [](Script&, Context&, NodeId, auto) { throw std::runtime_error("handler"); };
    const auto body = [](Script&, Context& context) {
        context.id.node == 0 ? send(context, 1, 8) : compute(context, busy(us(50)));
    };
    EXPECT_THROW(run(ideal(2), body, handler, {.single_module = true}), std::runtime_error);
}

TEST(SimEngine, MessagesAreDeliveredAlsoAfterAllWorkersHaveReturned) {
    for (const std::uint64_t bytes : {8UL, 1000000UL}) {
        int came = 0;
        run(
            ideal(2),
            [&](Script&, Context& context) {
                if (context.id.node == 0) send(context, 1, bytes);
            },
            [&](Script&, Context& context, NodeId from, auto) {
                if (++came < 5) send(context, from, bytes);
            });
        EXPECT_EQ(came, 5);
    }
}

TEST(SimEngine, ManySimulationsInOneProcessAreAllTheSame) {
    const auto one = [] {
        std::vector<Time> arrivals;
        Platform platform = ideal(25);
        platform.network.topology = Network::Topology::fat_tree;
        platform.network.cables = {1, 1};
        run(
            platform,
            [&](Script&, Context& context) {
                for (NodeId i = 1; i < 6; ++i) send(context, (context.id.node + 7 * i) % 25, 10000 * i + 13);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        return arrivals;
    };
    const std::vector<Time> first = one();
    EXPECT_EQ(first.size(), 125U);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(one(), first);
}

TEST(SimEngine, TwoBackendsMayLiveAtTheSameTime) {
    SimBackend a(ideal(2));
    SimBackend b(ideal(3));
    int came = 0;
    const auto body = [](Script&, Context& context) {
        if (context.id.node == 0) send(context, 1, 100000);
    };
    const auto handler = [&](Script&, Context&, NodeId, auto) { ++came; };
    run(b, body, handler);
    run(a, body, handler);
    EXPECT_EQ(came, 2);
}

// Stacks are reserved, not committed: 4000 of 8 MB would be 32 GB.
TEST(SimEngine, AThousandNodesOfFourWorkersNeedLittleMemory) {
    std::uint64_t workers = 0;
    Platform platform = ideal(1000, 4);
    platform.network.topology = Network::Topology::fat_tree;
    run(platform, [&](Script&, Context& context) {
        ++workers;
        context.backend->park(context, us(1));
    });
    EXPECT_EQ(workers, 4000U);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "a sanitizer needs a megabyte for every fiber";
#endif
    rusage usage{};
    ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, 400 * 1024);  // kilobytes
}

}  // namespace
}  // namespace heddle::sim::testing
