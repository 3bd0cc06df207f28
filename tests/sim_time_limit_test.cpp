// Tests that virtual time ends after 106 days and never wraps: each of the simulator's times that passes the
// limit is an error. Runs that end before are right. The expected times are products of the settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/worlds.hpp"
#include "host/thread_crew.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

constexpr const char* passes = "virtual time passes 106 days";

/// Nodes whose cores compute a flop a second, without overheads.
Platform slow(NodeId nodes, CoreId cores) {
    Platform platform = ideal(nodes, cores);
    platform.core_speed = 1;
    return platform;
}

runtime::RunResult bag(const Platform& platform, int tasks, const std::string& cost,
                       const std::string& victim = "random", const SimOptions& options = {}) {
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    return simulate({"bag", {{"tasks", std::to_string(tasks)}, {"task_cost", cost}}, "block"}, platform,
                    schedule, options);
}

TEST(SimTimeLimit, ASumOfTasksBelowItIsExactAndOneBeyondIsRefused) {
    EXPECT_EQ(bag(slow(1, 1), 92, "100000f").makespan, parse_time("9200000s"));
    for (const int tasks : {93, 185, 4000})
        EXPECT_THAT(error_of([&] { bag(slow(1, 1), tasks, "100000f"); }), HasSubstr(passes)) << tasks;
    EXPECT_THAT(error_of([] { bag(slow(1, 1), 20, "1000000f"); }), HasSubstr(passes));
    EXPECT_THAT(error_of([] { bag(slow(2, 1), 40, "1000000f"); }), HasSubstr(passes));
    EXPECT_THAT(error_of([] { bag(slow(4, 1), 900, "100000f", "local_first"); }), HasSubstr(passes));
}

TEST(SimTimeLimit, WithThreadsToo) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    EXPECT_THAT(error_of([&] { bag(slow(8, 1), 900, "100000f", "none", {.crew = crew}); }),
                HasSubstr(passes));
}

// Ten workers of 5e6 s each: their sum, 5e7 s, is more than a time holds.
TEST(SimTimeLimit, SumsOverWorkersAreExactBeyondIt) {
    const auto result = bag(slow(5, 2), 50, "1000000f", "none");
    EXPECT_EQ(result.makespan, parse_time("5000000s"));
    EXPECT_EQ(result.total.times.sum(), TimeSum(result.makespan) * 10);
    EXPECT_DOUBLE_EQ(to_seconds(result.total.times[Activity::working]), 5e7);
    EXPECT_NEAR(to_seconds(result.total.busy), 5e7, 1);
}

TEST(SimTimeLimit, LongLatenciesEndOrAreRefused) {
    for (const char* latency : {"700000s", "1000000s", "4500000s", "9000000s"}) {
        for (const char* victim : {"random", "none"}) {
            Platform platform = ideal(2);
            platform.network.latency = parse_time(latency);
            runtime::Schedule schedule;
            schedule.stealing.victim = victim;
            const std::string error = error_of([&] { simulate({"fib", {{"n", "3"}}}, platform, schedule); });
            EXPECT_THAT(error, ::testing::AnyOf(HasSubstr(passes), "no error")) << latency << " " << victim;
        }
    }
}

// One message each: its latency, its bytes, its gap, a transfer in SimGrid, its sender's and receiver's cost.
TEST(SimTimeLimit, MessagesThatArriveAfterItAreRefused) {
    const auto sends = [](std::uint64_t bytes, auto change, int messages = 1) {
        Platform platform = ideal(2);
        change(platform);
        return error_of([&] {
            run(platform, [&](Script&, Context& context) {
                if (context.id.node != 0) return;
                sleep_until(context, parse_time("5000000s"));
                for (int i = 0; i < messages; ++i) send(context, 1, bytes);
            });
        });
    };
    const Time long_time = parse_time("4600000s");
    EXPECT_EQ(sends(8, [](Platform&) {}), "no error");
    EXPECT_THAT(sends(8, [&](Platform& p) { p.network.latency = long_time; }), HasSubstr(passes));
    EXPECT_THAT(sends(
                    8, [&](Platform& p) { p.network.gap = long_time; }, 3),
                HasSubstr(passes));
    EXPECT_THAT(sends(4000, [](Platform& p) { p.network.bandwidth = 0.0009; }), HasSubstr(passes));
    EXPECT_THAT(sends(1000000, [](Platform& p) { p.network.bandwidth = 0.2; }), HasSubstr(passes));
    EXPECT_THAT(sends(8, [&](Platform& p) { p.overheads.message_send = long_time; }), HasSubstr(passes));
    EXPECT_THAT(sends(8, [&](Platform& p) { p.overheads.message_receive = long_time; }), HasSubstr(passes));
    EXPECT_THAT(sends(8, [&](Platform& p) { p.overheads.message_enqueue = long_time; }), HasSubstr(passes));
}

// 60 days of latency after 58 days, on links that change.
TEST(SimTimeLimit, LatenciesOfLinksThatChangeToo) {
    for (const auto contention : {Network::Contention::full, Network::Contention::none}) {
        Platform platform = ideal(2);
        platform.network.contention = contention;
        platform.network.latency = std::chrono::hours(24 * 30);
        platform.link_events = {{.at = us(500), .link = "link-0", .bandwidth = 0.5}};
        EXPECT_THAT(error_of([&] {
                        run(platform, [](Script&, Context& context) {
                            if (context.id.node != 0) return;
                            sleep_until(context, parse_time("5000000s"));
                            send(context, 1, 10);
                        });
                    }),
                    HasSubstr(passes));
    }
}

// SimGrid counts in doubles of seconds, whose last place is 1.8 ps at 10,000 s and a nanosecond at 5e6 s.
TEST(SimTimeLimit, LargeMessagesArriveUpToItOnAnyNumberOfThreads) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    constexpr NodeId nodes = 4;
    constexpr int messages = 150;
    using Arrivals = std::vector<std::vector<Time>>;
    const auto arrivals = [&](Platform platform, const char* begin, std::shared_ptr<Crew> crew) {
        platform.network.bandwidth = 12.5e9;
        platform.overheads.message_send = ns(400);
        Arrivals all(nodes);
        run(
            platform,
            [&](Script&, Context& context) {
                const NodeId self = context.id.node;
                sleep_until(context, parse_time(begin));
                for (int i = 0; i < messages; ++i) {
                    compute(context, busy(ns(37 + 13 * self + i % 29)));
                    const auto to = static_cast<NodeId>((self + 1 + static_cast<NodeId>(i) % 3) % nodes);
                    const auto bytes = static_cast<std::uint64_t>(100 + i * 977 % 9000);
                    context.backend->send(context, to, runtime::Bytes(bytes), {}, {.in_turn = i % 5 == 0});
                }
            },
            [&](Script&, Context& context, NodeId, auto) { all[context.id.node].push_back(now(context)); },
            {.crew = std::move(crew)});
        return all;
    };
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    for (const auto contention : {Network::Contention::exact, Network::Contention::full}) {
        for (const bool changes : {false, true}) {
            Platform platform = ideal(nodes);
            platform.network.contention = contention;
            if (changes) platform.link_events = {{.at = us(500), .link = "link-0", .bandwidth = 0.5}};
            for (const char* begin : {"10000s", "5000000s"}) {
                const Arrivals alone = arrivals(platform, begin, nullptr);
                std::size_t count = 0;
                for (const auto& of_node : alone) count += of_node.size();
                EXPECT_EQ(count, std::size_t{nodes} * messages) << begin;
                EXPECT_EQ(alone, arrivals(platform, begin, crew)) << begin;
            }
        }
    }
}

// What a message takes beside its way is added to every latency, for those that place tasks.
TEST(SimTimeLimit, WhatPlacementsAreToldIsRefusedBeyondIt) {
    const Time half = parse_time("5000000s");
    Platform platform = ideal(4);
    platform.overheads.message_enqueue = half;
    EXPECT_NEAR(cli::cluster_view(platform).message_seconds, 5e6, 1);
    Platform sent = platform;
    sent.overheads.message_send = half;
    EXPECT_THAT(error_of([&] { (void)cli::cluster_view(sent); }), HasSubstr(passes));
    Platform far = platform;
    far.network.latency = half / 2;  // of two links
    EXPECT_THAT(error_of([&] { (void)cli::cluster_view(far); }), HasSubstr(passes));
    far.networks = {{"left", {0, 1}}, {"right", {0, 1, 2, 3}}};
    EXPECT_THAT(error_of([&] { (void)cli::cluster_view(far); }), HasSubstr(passes));
    Platform shared = platform;
    shared.processes = 2;
    shared.shared_memory.latency = half;
    EXPECT_THAT(error_of([&] { (void)cli::cluster_view(shared); }), HasSubstr(passes));
}

TEST(SimTimeLimit, MemoryAndWaitsThatEndAfterItAreRefused) {
    const auto does = [](const std::function<void(Context&)>& what) {
        return error_of([&] {
            run(ideal(1), [&](Script&, Context& context) {
                sleep_until(context, parse_time("9000000s"));
                what(context);
            });
        });
    };
    EXPECT_EQ(does([](Context& context) { compute(context, {0, 1e9 * 1e5}); }), "no error");
    EXPECT_THAT(does([](Context& context) { compute(context, {0, 1e9 * 1e6}); }), HasSubstr(passes));
    EXPECT_THAT(does([](Context& context) { compute(context, {1e9 * 1e6, 0}); }), HasSubstr(passes));
    EXPECT_THAT(does([](Context& context) { sleep_until(context, parse_time("9223000s")); }),
                HasSubstr(passes));
    EXPECT_THAT(does([](Context& context) { context.charge(parse_time("9000000s")); }), HasSubstr(passes));
    EXPECT_THAT(does([](Context& context) {
                    Time free{};
                    context.charge_in_turn(parse_time("9000000s"), free);
                }),
                HasSubstr(passes));
}

}  // namespace
}  // namespace heddle::sim::testing
