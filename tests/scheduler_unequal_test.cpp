// Tests schedulers on processors of unequal speed and unequal distance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "graphs/generators/generator.hpp"
#include "partitioners/schedulers/costs.hpp"
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/partial.hpp"
#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

Machine with_speeds(std::vector<double> speeds, ProcessorIndex per_node = 1) {
    Machine machine = Machine::equal(static_cast<ProcessorIndex>(speeds.size()));
    machine.processors_per_node = per_node;
    machine.speeds = std::move(speeds);
    return machine;
}

/// Two clusters of two nodes of two cores: messages are cheap within a cluster, and a thousand times as slow
/// between them. In seconds.
Machine two_clusters(bool unequal) {
    ClusterView cluster{{4, 2}, 1e9};
    if (unequal) cluster.speeds = {1e9, 1e9, 5e8, 5e8, 2e9, 1e9, 1e8, 1e9};
    const RouteTable::Route near{Time(1'000'000), 1e10}, far{Time(1'000'000'000), 1e7};
    cluster.routes = std::make_shared<RouteTable>(RouteTable::tree(4, {2, 4}, {near, far}));
    cluster.bytes_besides = 20;
    return Machine::of_cluster(cluster);
}

TEST(UnequalProcessors, TwoEqualTasksOnSpeedsOneAndATenthTakeTwoSeconds) {
    // Both on the fast processor take 2; on both processors, 10.
    const TaskGraph graph = TaskGraph::independent(2, 1);
    const Problem problem(graph, with_speeds({1, 0.1}));
    for (const std::string& name : names()) {
        if (name == "random") continue;
        EXPECT_DOUBLE_EQ(make(name)->schedule(problem).makespan(), 2) << name;
    }
    // The slow processor last or first makes no difference.
    const Problem turned(graph, with_speeds({0.1, 1}));
    for (const std::string& name : names()) {
        if (name == "random") continue;
        EXPECT_DOUBLE_EQ(make(name)->schedule(turned).makespan(), 2) << name;
    }
}

TEST(UnequalProcessors, WorkThatTalksStaysInOneCluster) {
    // A fork of four tasks of a second. Its 100 MB take 11 ms within the cluster and 11 s to the other one.
    TaskGraphBuilder builder;
    const TaskIndex root = builder.add_task(1e9);
    for (int i = 0; i < 4; ++i) builder.add_edge(root, builder.add_task(1e9), 1e8);
    const TaskGraph graph = builder.build();
    const Problem problem(graph, two_clusters(false));
    for (const std::string& name : names()) {
        if (name == "random") continue;
        const Schedule schedule = make(name)->schedule(problem);
        EXPECT_LE(schedule.makespan(), 5.0001) << name;  // all on one core at worst
        for (const TaskIndex task : {1U, 2U, 3U, 4U})
            EXPECT_EQ(schedule.processor(task) / 4, schedule.processor(root) / 4) << name;
    }
    // Root, then two tasks on its own node, and two on the other node of its cluster after 1 us and 10 ms.
    EXPECT_NEAR(make("heft")->schedule(problem).makespan(), 2.010001, 1e-8);
}

TEST(UnequalProcessors, EverySchedulerIsFeasibleAndNoBoundIsAboveASchedule) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const TaskGraph small = testing::layered_graph(static_cast<TaskIndex>(5 + seed % 25),
                                                       2 + static_cast<TaskIndex>(seed % 4), 1.5, 1, seed);
        TaskGraphBuilder builder;  // in flops and bytes of the clusters
        for (TaskIndex task = 0; task < small.tasks(); ++task) builder.add_task(small.flops(task) * 1e7);
        for (TaskIndex task = 0; task < small.tasks(); ++task) {
            for (const TaskGraph::Link& link : small.successors(task))
                builder.add_edge(task, link.task, link.bytes * 1e6 + 0.3);
        }
        const TaskGraph graph = builder.build();
        std::vector<Machine> machines = {two_clusters(true), two_clusters(false),
                                         with_speeds({3e9, 1e9, 2e8, 1e9}),
                                         with_speeds({1e9, 1e8, 1e9, 1e8}, 2)};
        for (Machine& machine : machines) {
            if (!machine.routes) machine.between_nodes = {1e-5, 1e-9};
            const Problem problem(graph, machine);
            const double bound = lower_bounds(problem).best();
            for (const std::string& name : names()) {
                if (name == "portfolio" && (seed > 6 || small.tasks() > 12)) continue;
                const Schedule schedule = make(name)->schedule(problem);
                EXPECT_THAT(verify(problem, schedule), ::testing::IsEmpty()) << name << " " << seed;
                EXPECT_LE(bound, schedule.makespan() * (1 + 1e-12)) << name << " " << seed;
                if (!problem.in_picoseconds()) continue;
                const ExactSchedule exact = run_exactly(problem, schedule);
                EXPECT_THAT(verify(problem, exact.schedule), ::testing::IsEmpty()) << name << " " << seed;
                EXPECT_LE(to_seconds(exact.makespan), schedule.makespan() * (1 + 1e-12)) << name;
            }
        }
    }
}

/// In each step all pairs of a ready task and a processor are compared. With static levels this is ETF to the
/// letter.
std::vector<Slot> earliest_of_all_pairs(const Problem& problem, const std::vector<double>& level) {
    PartialSchedule partial(problem);
    ReadyCount missing(problem.graph());
    std::vector<TaskIndex> ready = missing.entries();
    while (!ready.empty()) {
        using Pair = std::tuple<double, double, TaskIndex, ProcessorIndex, double>;
        Pair best{std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
        for (const TaskIndex task : ready) {
            for (ProcessorIndex i = 0; i < problem.processors(); ++i) {
                const double start = std::max(partial.arrival(task, i), partial.free_from(i));
                const double moment = problem.equal_speeds() ? start : start + problem.time(task, i);
                best = std::min(best, Pair{moment, -level[task], task, i, start});
            }
        }
        const auto [moment, urgency, task, processor, start] = best;
        partial.place(task, processor, start);
        ready.erase(std::find(ready.begin(), ready.end(), task));
        missing.placed(task, [&ready](TaskIndex next) { ready.push_back(next); });
    }
    std::vector<Slot> slots;
    for (TaskIndex task = 0; task < problem.tasks(); ++task) slots.push_back(partial.slot(task));
    return slots;
}

/// From mostly messages to mostly work, by the seed.
TaskGraph drawn_graph(std::uint64_t seed) {
    const TaskGraph small = testing::layered_graph(static_cast<TaskIndex>(20 + seed), 12, 1.5, 1, seed);
    const double grain = seed % 3 == 0 ? 1e3 : seed % 3 == 1 ? 1e6 : 1e8;
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < small.tasks(); ++task) builder.add_task(small.flops(task) * grain);
    for (TaskIndex task = 0; task < small.tasks(); ++task) {
        for (const TaskGraph::Link& link : small.successors(task))
            builder.add_edge(task, link.task, link.bytes * 1e3);
    }
    return builder.build();
}

void expect_slots(const Schedule& schedule, const std::vector<Slot>& expected) {
    for (TaskIndex task = 0; task < expected.size(); ++task) {
        EXPECT_EQ(schedule.processor(task), expected[task].processor) << task;
        EXPECT_EQ(schedule.start(task), expected[task].start) << task;
    }
}

/// Three nodes of three cores of 1 Gf/s.
Machine nodes_of_cores(MessageCost within, MessageCost between) {
    return Machine::nodes({3, 3}, 1e9, within, between);
}
constexpr MessageCost fast{1e-6, 1e-10}, slow{1e-5, 1e-7};

TEST(UnequalProcessors, EtfTakesTheEarliestOfAllPairs) {
    const std::vector<Machine> machines = {two_clusters(false), two_clusters(true),
                                           nodes_of_cores(slow, fast), Machine::nodes({1, 4}, 1e9, slow, {})};
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph graph = drawn_graph(seed);
        for (const Machine& machine : machines) {
            const Problem problem(graph, machine);
            expect_slots(make("etf")->schedule(problem),
                         earliest_of_all_pairs(problem, static_levels(problem)));
        }
    }
}

// Two candidates are enough only if all processors are equally far from each other.
TEST(UnequalProcessors, FlbTakesTheEarliestOfAllPairsOnCoresOfNodes) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph graph = drawn_graph(seed);
        for (const MessageCost within : {MessageCost{}, fast, slow}) {
            const Problem problem(graph,
                                  nodes_of_cores(within, within.latency == slow.latency ? fast : slow));
            expect_slots(make("flb")->schedule(problem),
                         earliest_of_all_pairs(problem, bottom_levels(problem)));
        }
    }
}

TEST(UnequalProcessors, FcpStartsEachTaskAsEarlyAsAnyCorePermits) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const TaskGraph graph = drawn_graph(seed);
        for (const MessageCost within : {MessageCost{}, fast}) {
            const Problem problem(graph, nodes_of_cores(within, slow));
            const Schedule schedule = make("fcp")->schedule(problem);
            PartialSchedule partial(problem);
            for (const TaskIndex task : ready_by_priority(problem, bottom_levels(problem))) {
                double earliest = std::numeric_limits<double>::infinity();
                for (ProcessorIndex i = 0; i < problem.processors(); ++i)
                    earliest = std::min(earliest, std::max(partial.arrival(task, i), partial.free_from(i)));
                EXPECT_EQ(schedule.start(task), earliest) << task;
                partial.place(task, schedule.processor(task), schedule.start(task));
            }
        }
    }
}

TEST(UnequalProcessors, TheBoundOfWorkCountsSpeeds) {
    // 12 units on speeds 3, 2 and 1 take 2 if they can be divided at will; one task uses the fastest only.
    EXPECT_DOUBLE_EQ(Problem(TaskGraph::independent(12), with_speeds({3, 2, 1})).least_work_time(), 2);
    const TaskGraph one = TaskGraph::independent(1, 12);
    EXPECT_DOUBLE_EQ(Problem(one, with_speeds({3, 2, 1})).least_work_time(), 4);
}

TEST(UnequalProcessors, SpeedsThatAreAllAlikeAreEqualProcessors) {
    const TaskGraph graph = TaskGraph::independent(3, 6);
    const Problem problem(graph, with_speeds({2, 2}));
    EXPECT_TRUE(problem.equal_speeds());
    EXPECT_TRUE(problem.interchangeable());
    EXPECT_EQ(problem.time(0, 1), 3);
    EXPECT_FALSE(Problem(graph, two_clusters(false)).equal_distances());
}

TEST(UnequalProcessors, ThePlanSeesRoundedTimesAndWholeBytes) {
    TaskGraphBuilder builder;
    builder.add_task(1);
    builder.add_task(1);
    builder.add_edge(0, 1, 10.4);
    const TaskGraph graph = builder.build();
    ClusterView cluster{{2, 1}, 3e12};  // a flop is a third of a picosecond
    cluster.routes = std::make_shared<RouteTable>(RouteTable::equal({Time(7), 4e12}));
    cluster.bytes_besides = 20;
    const Problem problem(graph, Machine::of_cluster(cluster));
    EXPECT_EQ(problem.exact_time(0, 0), Time(0));
    EXPECT_EQ(problem.time(0, 0), 0);
    // 30 bytes at 4 bytes a picosecond: 7.5, rounded to 8.
    EXPECT_EQ(problem.exact_delay(10.4, 0, 1), Time(15));
    EXPECT_DOUBLE_EQ(problem.delay(10.4, 1, 0), 15e-12);
    EXPECT_EQ(problem.delay(10.4, 1, 1), 0);
}

/// Mean schedule length ratio over 100 graphs of Topcuoglu's generator, with the parameters of the paper's
/// section 6.2.1 in turn.
double mean_slr(const std::string& name) {
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
        const char* const alpha[] = {"0.5", "1", "2"};
        const char* const beta[] = {"0.1", "0.25", "0.5", "0.75", "1"};
        const char* const ccr[] = {"0.1", "0.5", "1", "5", "10"};
        const graphs::GraphFile file =
            graphs::generate("topcuoglu", {{"tasks", std::to_string(20 * (1 + i % 5))},
                                           {"out_degree", std::to_string(1 + i % 4)},
                                           {"alpha", alpha[i % 3]},
                                           {"beta", beta[i / 5 % 5]},
                                           {"ccr", ccr[i / 3 % 5]},
                                           {"processors", "6"},
                                           {"seed", std::to_string(i)}});
        Machine machine = Machine::equal(6);
        machine.set_costs(file.costs);
        const Problem problem(file.graph, machine);
        const Schedule schedule = make(name)->schedule(problem);
        EXPECT_THAT(verify(problem, schedule), ::testing::IsEmpty());
        sum += schedule_length_ratio(problem, schedule);
    }
    return sum / 100;
}

// Topcuoglu et al. 2002, section 6.2: HEFT's schedules are shorter than CPOP's, and these than DLS's.
TEST(UnequalProcessors, HeftsMeanScheduleLengthRatioIsBelowCpops) {
    const double heft = mean_slr("heft"), cpop = mean_slr("cpop");
    RecordProperty("heft", std::to_string(heft));
    RecordProperty("cpop", std::to_string(cpop));
    std::printf("mean SLR: heft %.4f, cpop %.4f\n", heft, cpop);
    EXPECT_LT(heft, cpop);
    EXPECT_GT(heft, 1);
}

/// How many delays and times there are, if each of them is the problem's.
std::size_t same_costs(const Problem& problem, ProcessorIndex processors) {
    const Costs costs(problem, processors);
    const TaskGraph& graph = problem.graph();
    std::size_t same = 0;
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (ProcessorIndex to = 0; to < processors; ++to) {
            same += costs.time(task, to) == problem.time(task, to) ? 1 : 0;
            for (ProcessorIndex from = 0; from < processors; ++from) {
                for (const TaskGraph::Link& link : graph.predecessors(task))
                    same += costs.delay_in(link, from, to) == problem.delay(link.bytes, from, to) ? 1 : 0;
                for (const TaskGraph::Link& link : graph.successors(task))
                    same += costs.delay_out(link, from, to) == problem.delay(link.bytes, from, to) ? 1 : 0;
            }
        }
    }
    return same;
}

TEST(UnequalProcessors, CostsThatAreComputedOnceAreTheProblems) {
    const auto file = graphs::generate("topcuoglu", {{"tasks", "20"}, {"processors", "6"}});
    const TaskGraph& graph = file.graph;
    Machine with_times = Machine::equal(6);
    with_times.set_costs(file.costs);
    Machine cores = with_speeds({1, 2, 3, 4, 5, 6}, 2);
    cores.within_node = {3, 0.25};
    Machine many = Machine::equal(150);  // more than there are tables for
    many.processors_per_node = 3;
    for (const Machine& machine : {Machine::equal(6), Machine::equal(150), with_times, cores, many,
                                   with_speeds({1, 0.1, 3}), two_clusters(false), two_clusters(true)}) {
        const Problem problem(graph, machine);
        const std::size_t processors = machine.processors;
        const std::size_t all = processors * (graph.tasks() + processors * 2 * graph.edges());
        EXPECT_EQ(same_costs(problem, machine.processors), all) << processors;
    }
}

}  // namespace
}  // namespace heddle::schedulers
