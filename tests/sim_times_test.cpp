// Tests what simulated workers do with their time. The five activities add up to the makespan, to the
// picosecond. In small programs they follow from the platform's costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "sim/sim_backend.hpp"
#include "tests/placed_graph_testing.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle {
namespace {

using sim::testing::ns;
using sim::testing::us;

/// Keeps all that it is told, and adds up nothing but what lies between the changes of a worker.
class Diarist final : public Recorder {
public:
    void begin(NodeId nodes, CoreId cores, std::function<Time()>) override {
        for (NodeId node = 0; node < nodes; ++node) {
            for (CoreId core = 0; core < cores; ++core)
                changes_[{node, core}] = {{Time::zero(), Activity::idle}};
        }
    }
    void entered(WorkerId worker, Activity activity, Time time) override {
        EXPECT_GE(time, changes_[worker].back().first);
        changes_[worker].emplace_back(time, activity);
    }
    void sending(const MessageNote& message, Time begin, Time end) override {
        EXPECT_LE(begin, end);
        EXPECT_TRUE(sent_.emplace(std::pair(message.from, message.number), end).second);
    }
    void receiving(const MessageNote& message, Time begin) override {
        EXPECT_GE(begin, sent_.at({message.from, message.number}));
    }
    void delivered(const MessageNote& message, Time) override { sent_.erase({message.from, message.number}); }
    void finish(Time makespan) override {
        EXPECT_TRUE(sent_.empty()) << "messages that were not delivered";
        for (auto& [worker, changes] : changes_) {
            ActivityTimes& sum = times.emplace_back();
            changes.emplace_back(never, Activity::idle);
            for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
                sum[changes[i].second] +=
                    std::min(changes[i + 1].first, makespan) - std::min(changes[i].first, makespan);
            }
        }
    }

    std::vector<ActivityTimes> times;  ///< by worker

private:
    std::map<WorkerId, std::vector<std::pair<Time, Activity>>> changes_;
    std::map<std::pair<NodeId, std::uint64_t>, Time> sent_;
};

using sim::testing::simulate;
using sim::testing::StatedWorkload;

Platform platform(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    return platform;
}

class SimTimes : public testing::TestWithParam<std::string> {};

TEST_P(SimTimes, OfEveryWorkerAddUpToTheMakespanExactly) {
    const std::vector<StatedWorkload> programs = {
        {"fib", {{"n", "14"}}},
        {"nqueens", {{"n", "7"}}},
        {"uts", {{"tree", "T1"}, {"depth", "5"}}},
        {"bag", {{"tasks", "300"}, {"task_cost", "3kf"}, {"spread", "1"}}},
        {"bag", {{"tasks", "300"}, {"task_cost", "3kf"}}, "cyclic"},
        {"dag", {{"graph", "stencil_2d:width=8,height=8,steps=5"}}, "heft"},
        {"cholesky", {{"tiles", "6"}, {"tile_size", "16"}}, "heft"},
    };
    ActivityTotals all;
    for (const StatedWorkload& stated : programs) {
        for (const auto& [nodes, cores] : {std::pair(1U, 1U), std::pair(4U, 2U), std::pair(9U, 1U)}) {
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                SCOPED_TRACE(stated.name + " on " + std::to_string(nodes) + ", seed " + std::to_string(seed));
                runtime::Schedule schedule;
                schedule.seed = seed;
                schedule.stealing.victim = GetParam();
                schedule.stealing.retries = 2;  // so that short runs have idle workers under every policy
                Diarist diarist;
                const auto result = simulate(stated, platform(nodes, cores), schedule, {}, &diarist);
                ASSERT_EQ(result.workers.size(), std::size_t{nodes} * cores);
                ActivityTotals total;
                for (const ActivityTimes& worker : result.workers) {
                    EXPECT_EQ(worker.sum(), result.makespan);
                    total += worker;
                }
                EXPECT_EQ(result.total.times, total);
                EXPECT_EQ(result.workers, diarist.times);
                all += total;
            }
        }
    }
    for (const Activity activity : all_activities) {
        if (activity == Activity::stealing && GetParam() == "none") continue;
        EXPECT_GT(all[activity], Time::zero()) << name(activity);
    }
}

INSTANTIATE_TEST_SUITE_P(All, SimTimes, testing::ValuesIn(runtime::victim_policies()),
                         [](const auto& parameter) { return parameter.param; });

// The run is the same with and without a recorder.
TEST(SimTimes, ListeningChangesNothing) {
    const auto once = [](Recorder* recorder) {
        return simulate({"nqueens", {{"n", "8"}}}, platform(4, 2), {}, {}, recorder);
    };
    Diarist diarist;
    const auto heard = once(&diarist);
    const auto alone = once(nullptr);
    EXPECT_EQ(heard.makespan, alone.makespan);
    EXPECT_EQ(heard.workers, alone.workers);
    EXPECT_EQ(heard.steals, alone.steals);
}

// One worker alone: it works for as long as the work takes, and the rest of the makespan are its forks and
// joins, which nothing else is charged for: every fork is joined.
TEST(SimTimes, OneWorkerWorksAndPaysForItsForksAndJoins) {
    Platform one = platform(1, 1);
    one.core_speed = 1e9;
    one.overheads = {};
    one.overheads.fork = ns(7);
    one.overheads.join = ns(5);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    const auto result = simulate({"bag", {{"tasks", "100"}, {"task_cost", "1234f"}}}, one, schedule);
    const ActivityTimes& times = result.workers.at(0);
    EXPECT_EQ(times[Activity::working], 100 * ns(1234));
    EXPECT_EQ(times[Activity::overhead], result.makespan - times[Activity::working]);
    EXPECT_EQ(times[Activity::overhead].count() % ns(12).count(), 0);
    EXPECT_GT(times[Activity::overhead], Time::zero());
}

// A chain over two nodes and back, nothing costs but work, two links of 1 us and the bytes of the messages:
// each waits while the other works or a message travels, and a worker that has done its last task is idle.
TEST(SimTimes, WhoNeedsDataWaitsAndWhoNeedsNothingIsIdle) {
    TaskGraphBuilder builder;
    const auto first = builder.add_task(1000);
    const auto second = builder.add_task(5000);
    const auto third = builder.add_task(300);
    builder.add_edge(first, second, 80);
    builder.add_edge(second, third, 80);
    const TaskGraph graph = builder.build();
    const std::vector<WorkerId> places = {{0, 0}, {1, 0}, {0, 0}};
    const model::PlacedGraph plan(graph, Placement({3, 1}, places),
                                  std::vector<TaskIndex>{first, second, third},
                                  model::PlacedGraph::Order::ready, model::PlacedGraph::Data::declared);
    sim::SimBackend backend(sim::testing::ideal(3));
    testing_placed::Diary diary(graph.tasks());
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution execution(backend, schedule, [&](NodeId node) {
        return std::make_unique<testing_placed::DiaryProgram>(plan, node, diary);
    });
    const auto result = execution.run();
    const Time travel = diary[second].end - ns(5000) - diary[first].end;
    // The way back may take longer: the second node also asks whether the run is over.
    const Time back = diary[third].end - ns(300) - diary[second].end;
    EXPECT_GT(travel, us(2));
    EXPECT_GE(back, travel);
    EXPECT_EQ(result.makespan, ns(6300) + travel + back);
    const auto expect = [&](std::size_t node, Time working, Time waiting, Time idle) {
        const ActivityTimes& times = result.workers.at(node);
        EXPECT_EQ(times[Activity::working], working) << "node " << node;
        EXPECT_EQ(times[Activity::waiting], waiting) << "node " << node;
        EXPECT_EQ(times[Activity::idle], idle) << "node " << node;
    };
    expect(0, ns(1300), travel + ns(5000) + back, ns(0));
    expect(1, ns(5000), ns(1000) + travel, back + ns(300));
    expect(2, ns(0), ns(0), result.makespan);
}

// Messages that a busy core must send take their time from it: overhead, and nothing else changes.
TEST(SimTimes, WhatMessagesTakeFromACoreIsOverhead) {
    Platform two = platform(2, 1);
    two.core_speed = 1e9;
    two.overheads = {};
    two.overheads.message_send = ns(100);
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    const StatedWorkload stated = {"dag", {{"graph", "stencil_2d:width=8,height=8,steps=5"}}, "block"};
    const auto paid = simulate(stated, two, schedule);
    two.overheads.message_send = ns(0);
    const auto free = simulate(stated, two, schedule);
    EXPECT_EQ(paid.total.times[Activity::working], free.total.times[Activity::working]);
    EXPECT_EQ(free.total.times[Activity::overhead], ns(0));
    EXPECT_GT(paid.total.times[Activity::overhead], ns(0));
    EXPECT_EQ(paid.total.times[Activity::overhead].count() % ns(100).count(), 0);
}

}  // namespace
}  // namespace heddle
