// Tests nodes that differ, by stated factors and by noise: each test states a formula and checks it. The
// times are calculated by hand from docs/platforms.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "host/thread_crew.hpp"
#include "model/fork_join.hpp"
#include "runtime/run/execution.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;

// --- speeds

// time = flops / (core speed * factor of the node * factor of the core).
TEST(SimNodes, SpeedsOfNodesAndCoresAreMultiplied) {
    Platform platform = ideal(3, 2);
    platform.node_speeds = {1, 0.5};  // nodes 0 and 2, node 1
    platform.core_speeds = {1, 0.25};
    EXPECT_EQ(ends_of(platform, busy(us(10))),
              (std::vector<Time>{us(10), us(40), us(20), us(80), us(10), us(40)}));
    // The scheduler is told the mean: (1 + 0.25) / 2 * (1 + 0.5 + 1) / 3 Gf/s.
    EXPECT_DOUBLE_EQ(SimBackend(platform).topology().core_speed, 1e9 * 0.625 * 2.5 / 3);
}

TEST(SimNodes, AListOfSpeedsBeginsAgain) {
    Platform platform = ideal(1, 5);
    platform.core_speeds = {1, 2};
    EXPECT_EQ(ends_of(platform, busy(us(2))), (std::vector<Time>{us(2), us(1), us(2), us(1), us(2)}));
}

// --- sockets

/// Two tasks of 100 us: the root works on one, the other waits for a thief.
struct Leaf {
    static std::uint64_t run(model::Strand strand, std::uint64_t flops) {
        strand.work(flops);
        return 1;
    }
};
class TwoTasks final : public model::ForkJoinProgram {
public:
    runtime::Work unit() const override { return {1, 0}; }
    void root(model::Strand strand) override {
        strand.fork<Leaf>(std::uint64_t{100'000});
        // A thief's request is seen at the next fork or join.
        for (int i = 0; i < 100; ++i) {
            strand.fork<Leaf>(std::uint64_t{1000});
            strand.join<Leaf>();
        }
        strand.join<Leaf>();
    }
    runtime::Answer answer() const override { return {}; }
};

runtime::RunResult two_tasks(CoreId sockets, Time steal_far) {
    Platform platform = ideal(1, 2);
    platform.sockets = sockets;
    platform.overheads.steal_far = steal_far;
    runtime::Schedule schedule;
    schedule.stealing.victim = "local_first";
    SimBackend backend(platform);
    runtime::Execution execution(backend, schedule, [](NodeId) { return std::make_unique<TwoTasks>(); });
    return execution.run();
}

// Where nothing else costs anything: busy = work + attempts * steal_far, on two sockets; on one nothing is
// far.
TEST(SimNodes, LookingAtAnotherSocketCostsMore) {
    for (const Time far : {Time::zero(), ns(100), us(3)}) {
        const auto result = two_tasks(2, far);
        EXPECT_GE(result.total.steals_within_node, 1U);
        EXPECT_GE(result.total.steal_attempts, result.total.steals_within_node);
        EXPECT_TRUE(result.total.busy ==
                    us(200) + static_cast<std::int64_t>(result.total.steal_attempts) * far);
        EXPECT_TRUE(two_tasks(1, far).total.busy == us(200));
    }
}

TEST(SimNodes, TheSchedulerIsToldWhichCoresAreNear) {
    Platform platform = ideal(1, 6);
    platform.sockets = 2;
    const SimBackend backend(platform);
    const runtime::Topology& topology = backend.topology();
    EXPECT_TRUE(topology.near(0, 2));
    EXPECT_FALSE(topology.near(2, 3));
    EXPECT_TRUE(topology.near(3, 5));
    platform.sockets = 1;
    EXPECT_TRUE(SimBackend(platform).topology().near(0, 5));
    platform.sockets = 4;
    EXPECT_THROW(SimBackend{platform}, Error);
}

// --- noise

struct Moments {
    double mean = 0, deviation = 0;
};
Moments moments(const std::vector<double>& values) {
    Moments found;
    for (const double value : values) found.mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - found.mean) * (value - found.mean);
    found.deviation = std::sqrt(squares / static_cast<double>(values.size()));
    return found;
}

// The mean of n draws of deviation d is within 4 d / sqrt(n) of its own, but for one seed in 16,000.
TEST(SimNodes, TimesOfTasksHaveTheStatedMeanAndDeviation) {
    for (const double stated : {0.05, 0.3}) {
        Platform platform = ideal(1);
        platform.noise.task = stated;
        constexpr int count = 100000;
        std::vector<double> times;
        run(platform, [&](Script&, Context& context) {
            for (int i = 0; i < count; ++i) {
                const Time begin = now(context);
                compute(context, busy(us(1)));
                times.push_back(to_seconds(now(context) - begin) * 1e6);
            }
        });
        const Moments found = moments(times);
        EXPECT_NEAR(found.mean, 1, 4 * stated / std::sqrt(count)) << stated;
        EXPECT_NEAR(found.deviation / stated, 1, 0.02) << stated;
        EXPECT_GT(*std::min_element(times.begin(), times.end()), 0);
    }
}

TEST(SimNodes, TimesOfNodesHaveTheStatedMeanAndDeviation) {
    Platform platform = ideal(2000);
    platform.noise.node = 0.2;
    platform.network.contention = Network::Contention::none;
    std::vector<double> times;
    for (const Time end : ends_of(platform, busy(us(1)))) times.push_back(to_seconds(end) * 1e6);
    const Moments found = moments(times);
    EXPECT_NEAR(found.mean, 1, 4 * 0.2 / std::sqrt(2000));
    EXPECT_NEAR(found.deviation / 0.2, 1, 0.1);
}

// The factor of a node is drawn once: all its cores, and all that they do, take it.
TEST(SimNodes, ANodeKeepsItsFactor) {
    Platform platform = ideal(2, 2);
    platform.noise.node = 0.2;
    const std::vector<Time> once = ends_of(platform, busy(us(10)));
    EXPECT_EQ(once[0], once[1]);
    EXPECT_NE(once[0], once[2]);
    const std::vector<Time> twice = ends_of(platform, busy(us(20)));
    for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_NEAR(static_cast<double>(twice[i].count()), 2 * static_cast<double>(once[i].count()), 2);
}

// Bytes are as noisy as flops: a piece of work is larger or smaller as a whole.
TEST(SimNodes, NoiseOfTasksIsThatOfTheirBytesToo) {
    Platform platform = ideal(1);
    platform.noise.task = 0.3;
    EXPECT_EQ(ends_of(platform, {0, 1000}), ends_of(platform, {1000, 0}));
    EXPECT_NE(ends_of(platform, {0, 1000}), ends_of(ideal(1), {0, 1000}));
}

TEST(SimNodes, TheSeedDecidesTheNoise) {
    Platform platform = ideal(2, 2);
    platform.noise = {.node = 0.1, .task = 0.1};
    EXPECT_EQ(ends_of(platform, busy(us(10)), 5), ends_of(platform, busy(us(10)), 5));
    EXPECT_NE(ends_of(platform, busy(us(10)), 5), ends_of(platform, busy(us(10)), 6));
}

runtime::RunResult search(std::shared_ptr<Crew> crew, std::uint64_t seed) {
    Platform platform;
    platform.nodes = 9;
    platform.cores = 4;
    platform.sockets = 2;
    platform.node_speeds = {1, 0.7};
    platform.noise = {.node = 0.05, .task = 0.1};
    platform.events = {speed(us(10), 0, 0.5), stop(us(12), 3), go_on(us(40), 3), stop(us(15), 0),
                       go_on(us(20), 0)};
    runtime::Schedule schedule;
    schedule.seed = seed;
    schedule.stealing.victim = "hierarchical";
    auto result =
        simulate({"uts", {{"depth", "5"}}}, platform, schedule, {.seed = seed, .crew = std::move(crew)});
    EXPECT_GT(result.makespan, us(40));  // all that was to happen has happened
    return result;
}

TEST(SimNodes, NoiseAndEventsAreTheSameWithAnyNumberOfThreads) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(3);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto one = search(nullptr, seed);
        const auto three = search(crew, seed);
        EXPECT_EQ(one.makespan, three.makespan);
        EXPECT_EQ(one.steals, three.steals);
        EXPECT_EQ(one.total.busy, three.total.busy);
        EXPECT_NE(one.makespan, search(nullptr, seed + 100).makespan);
    }
}

// --- memory

// Four cores, each of which could stream b bytes per second alone; the memory has 1.5 b. Memory-bound tasks
// run 1.5 times as fast on the node as on a core alone.
TEST(SimNodes, FourCoresOnTheBandwidthOfOneAndAHalfSpeedUpByThat) {
    constexpr int tasks = 240;
    const auto time = [](CoreId cores) {
        Platform platform = ideal(1, cores);
        // A core needs 1 ns for each byte, by its flops. Alone it is bound by these.
        platform.memory_bandwidth = 1.5e9;
        Time end{};
        run(platform, [&](Script&, Context& context) {
            for (CoreId i = 0; i < tasks / cores; ++i) compute(context, {1000, 1000});
            end = std::max(end, now(context));
        });
        return to_seconds(end);
    };
    EXPECT_NEAR(time(1) / time(4), 1.5, 0.015);
}

// k cores copy at min(c, b / k) bytes per second each: b = 40 GB/s of the memory, c = 15 GB/s of a core.
TEST(SimNodes, ACoreTakesNoMoreThanItsShareAndItsLimit) {
    constexpr double bytes = 1e6;
    const auto time = [](CoreId cores) {
        Platform platform = ideal(1, cores);
        platform.memory_bandwidth = 40e9;
        platform.core_memory_bandwidth = 15e9;
        Time end{};
        run(platform, [&](Script&, Context& context) {
            compute(context, {0, bytes});
            end = std::max(end, now(context));
        });
        return to_seconds(end);
    };
    for (const CoreId cores : {1U, 2U, 3U, 4U, 8U})
        EXPECT_NEAR(time(cores), bytes / std::min(15e9, 40e9 / cores), 2e-12) << cores << " cores";
}

// A core that streams while others come and go: 1 MB alone at 15 GB/s, then three at 40 / 3 GB/s each.
TEST(SimNodes, AStreamSlowsDownWhenMoreCome) {
    Platform platform = ideal(1, 3);
    platform.memory_bandwidth = 40e9;
    platform.core_memory_bandwidth = 15e9;
    const Time later = from_seconds(1e6 / 15e9);
    std::map<CoreId, double> ends;
    run(platform, [&](Script&, Context& context) {
        if (context.id.core != 0) sleep_until(context, later);
        compute(context, {0, context.id.core == 0 ? 3e6 : 1e6});
        ends[context.id.core] = to_seconds(now(context));
    });
    const double three = 1e6 / (40e9 / 3);
    EXPECT_NEAR(ends[1], to_seconds(later) + three, 1e-11);
    EXPECT_NEAR(ends[2], to_seconds(later) + three, 1e-11);
    EXPECT_NEAR(ends[0], to_seconds(later) + three + 1e6 / 15e9, 1e-11);
}

// --- the disk

// A disk serves one call after the other: each takes 100 us, and 1 ms for a million bytes at 1 GB/s. A core
// computes meanwhile.
TEST(SimNodes, ADiskServesCallsOneAfterTheOther) {
    Platform platform = ideal(1, 2);
    platform.disk = {1e9, us(100)};
    std::vector<Time> ends;
    Time computed{};
    run(platform, [&](Script&, Context& context) {
        if (context.id.core == 1) {
            compute(context, {500'000, 0});
            computed = now(context);
            return;
        }
        for (int call = 0; call < 3; ++call) {
            context.backend->io(
                context, 1e6, [] {},
                [&](Context& after) {
                    ends.push_back(after.clock);
                    after.backend->unpark(after, 0);
                });
        }
        while (ends.size() < 3) context.backend->park(context, never);
        EXPECT_EQ(now(context), us(3300));
        context.backend->io(
            context, 0, [] {},
            [&](Context& after) {
                ends.push_back(after.clock);
                after.backend->unpark(after, 0);
            });
        while (ends.size() < 4) context.backend->park(context, never);
    });
    EXPECT_EQ(ends, (std::vector<Time>{us(1100), us(2200), us(3300), us(3400)}));
    EXPECT_EQ(computed, us(500));
}

// --- mistakes

TEST(SimNodes, WhatMakesNoSenseIsRefused) {
    const auto refused = [](auto change) -> std::string {
        Platform platform = ideal(2, 4);
        change(platform);
        try {
            complete(platform);
        } catch (const Error& error) {
            return error.what();
        }
        return "taken";
    };
    EXPECT_EQ(refused([](Platform&) {}), "taken");
    EXPECT_THAT(refused([](Platform& p) { p.sockets = 3; }), HasSubstr("evenly among 3 sockets"));
    EXPECT_THAT(refused([](Platform& p) { p.node_speeds = {1, 0}; }), HasSubstr("node_speeds"));
    EXPECT_THAT(refused([](Platform& p) { p.core_speeds = {-1}; }), HasSubstr("core_speeds"));
    EXPECT_THAT(refused([](Platform& p) { p.noise.task = -0.1; }), HasSubstr("noise.task"));
    EXPECT_THAT(refused([](Platform& p) { p.events = {stop(us(1), 2)}; }), HasSubstr("there are 2 nodes"));
    EXPECT_THAT(refused([](Platform& p) { p.events = {go_on(us(1), 1)}; }), HasSubstr("has not stopped"));
    EXPECT_THAT(refused([](Platform& p) {
                    p.events = {stop(us(1), 1), stop(us(2), 1)};
                }),
                HasSubstr("has stopped already"));
    EXPECT_THAT(refused([](Platform& p) { p.events = {speed(us(1), 1, 0)}; }), HasSubstr("speed 0"));
    EXPECT_THAT(refused([](Platform& p) { p.events = {NodeEvent{}}; }), HasSubstr("not clear"));
}

}  // namespace
}  // namespace heddle::sim::testing
