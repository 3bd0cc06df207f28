// Tests properties of the schedules of every scheduler, on random graphs and every kind of machine.
#include <string>

#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

using testing::expect_feasible;
using testing::layered_graph;

std::vector<Machine> machines(const TaskGraph& graph) {
    Machine fast_and_slow = Machine::equal(4);
    fast_and_slow.speeds = {1, 2, 0.5, 3};
    Machine slow_inside = Machine::nodes({2, 3}, 2, {3, 2}, {1, 1});
    std::vector<double> times;
    Random random(7);
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (int i = 0; i < 3; ++i) times.push_back(graph.flops(task) * (0.5 + random.uniform()));
    }
    return {Machine::equal(1),
            Machine::equal(3),
            Machine::equal(unbounded),
            Machine::without_communication(4),
            Machine::nodes({3, 4}, 2, {0.1, 0.01}, {2, 0.5}),
            slow_inside,
            fast_and_slow,
            Machine::unrelated(3, times)};
}

TEST(Portfolio, WithoutAnyTimeIsNoWorseThanHeft) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const TaskGraph graph = layered_graph(50, 5, 2, 0.1, seed);
        const Problem problem(graph, Machine::equal(16));
        const double portfolio = make("portfolio")->schedule(problem, {1, [] { return true; }}).makespan();
        EXPECT_LE(portfolio, make("heft")->schedule(problem).makespan()) << seed;
    }
}

TEST(EveryScheduler, MakesFeasibleSchedulesNoShorterThanTheBounds) {
    int schedules = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const TaskGraph graph = layered_graph(static_cast<TaskIndex>(5 * seed), 5, 2,
                                              0.1 * static_cast<double>(seed * seed), seed);
        std::size_t number = 0;
        for (const Machine& machine : machines(graph)) {
            const Problem problem(graph, machine);
            for (const Kind& kind : all()) {
                int asked = 0;
                const Schedule schedule =
                    kind.make()->schedule(problem, {seed, [&asked] { return ++asked > 200; }});
                expect_feasible(
                    problem, schedule,
                    kind.name + ", graph " + std::to_string(seed) + ", machine " + std::to_string(number));
                ++schedules;
            }
            ++number;
        }
    }
    EXPECT_GE(schedules, 12 * 8 * 13);
}

TEST(EveryScheduler, KeepsAProcessorOrderThatReproducesItsTimes) {
    // Running each processor's tasks in the schedule's order, as early as possible, never ends later.
    for (const Kind& kind : all()) {
        const TaskGraph graph = layered_graph(60, 6, 2, 1, 3);
        const Problem problem(graph, Machine::nodes({2, 2}, 1, {0, 0.1}, {1, 1}));
        const Schedule schedule =
            kind.make()->schedule(problem, {1, [n = 0]() mutable { return ++n > 200; }});
        std::vector<TaskIndex> sequence = graph.topological_order();
        std::stable_sort(sequence.begin(), sequence.end(), [&](TaskIndex a, TaskIndex b) {
            return std::pair(schedule.start(a), schedule.finish(a)) <
                   std::pair(schedule.start(b), schedule.finish(b));
        });
        std::vector<ProcessorIndex> where;
        for (TaskIndex task = 0; task < graph.tasks(); ++task) where.push_back(schedule.processor(task));
        const Schedule again = run_in_sequence(problem, where, sequence);
        EXPECT_LE(again.makespan(), schedule.makespan() * (1 + 1e-12)) << kind.name;
        expect_feasible(problem, again, kind.name);
    }
}

TEST(EveryScheduler, IsAsLongAsAllWorkOnOneProcessor) {
    const TaskGraph graph = layered_graph(50, 5, 2, 3, 11);
    const Problem problem(graph, Machine::equal(1));
    for (const Kind& kind : all())
        EXPECT_DOUBLE_EQ(kind.make()->schedule(problem).makespan(), graph.total_work()) << kind.name;
}

TEST(EveryScheduler, GivesTheSameScheduleAgain) {
    const TaskGraph graph = layered_graph(80, 8, 2, 1, 5);
    const Problem problem(graph, Machine::equal(4));
    for (const Kind& kind : all()) {
        const Schedule one = kind.make()->schedule(problem), two = kind.make()->schedule(problem);
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            ASSERT_EQ(one.processor(task), two.processor(task)) << kind.name;
            ASSERT_EQ(one.start(task), two.start(task)) << kind.name;
        }
    }
}

TEST(EveryScheduler, TakesTasksWithoutTimeAndGraphsWithoutEdgesOrTasks) {
    TaskGraphBuilder builder;
    for (int i = 0; i < 12; ++i) builder.add_task(i % 3 == 0 ? 0 : 2);
    for (TaskIndex i = 0; i + 4 < 12; ++i) {
        builder.add_edge(i, i + 4, i % 2);
        builder.add_edge(i, i + 4, 1);
        builder.add_edge(i, i + 3, 0);
    }
    const TaskGraph odd = builder.build(), apart = TaskGraph::independent(7),
                    empty = TaskGraph::independent(0);
    for (const TaskGraph* graph : {&odd, &apart, &empty}) {
        for (const ProcessorIndex processors : {1U, 3U, unbounded}) {
            const Problem problem(*graph, Machine::equal(processors));
            for (const Kind& kind : all()) {
                const Schedule schedule = kind.make()->schedule(problem);
                expect_feasible(problem, schedule, kind.name);
                EXPECT_EQ(schedule.tasks(), graph->tasks());
            }
        }
    }
}

TEST(Portfolio, IsNoWorseThanAnyOther) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const TaskGraph graph = layered_graph(40, 6, 2, 1, seed);
        const Problem problem(graph, Machine::equal(3));
        const double best =
            make("portfolio")->schedule(problem, {1, [n = 0]() mutable { return ++n > 500; }}).makespan();
        for (const Kind& kind : all())
            EXPECT_LE(best,
                      kind.make()->schedule(problem, {1, [n = 0]() mutable { return ++n > 500; }}).makespan())
                << kind.name;
    }
}

TEST(Portfolio, ProvesWhatAnExhaustiveEnumerationFinds) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const TaskGraph graph = layered_graph(6, 3, 1.5, 0.5 * static_cast<double>(1 + seed % 4), seed);
        Machine machine = seed % 3 == 0 ? Machine::nodes({1, 2}, 1, {0.5, 0.75}, {9, 9}) : Machine::equal(2);
        if (seed % 3 == 1) machine.speeds = {1, 2};
        const Problem problem(graph, machine);
        const Schedule schedule = make("portfolio")->schedule(problem);
        EXPECT_TRUE(schedule.proved_optimal()) << seed;
        EXPECT_NEAR(schedule.makespan(), testing::least_of_all(problem), 1e-9) << seed;
    }
}

}  // namespace
}  // namespace heddle::schedulers
