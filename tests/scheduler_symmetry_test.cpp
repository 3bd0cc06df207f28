// Tests what searches leave out on machines whose processors may change places: neither an optimum nor time
// is lost on nodes that no schedule needs.
#include <string>

#include "graphs/graph_source.hpp"
#include "partitioners/schedulers/exact.hpp"
#include "partitioners/schedulers/symmetry.hpp"
#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

using Processors = std::vector<ProcessorIndex>;

Machine cores_in_nodes(ProcessorIndex processors, ProcessorIndex each, std::vector<double> speeds = {}) {
    Machine machine = Machine::equal(processors);
    machine.processors_per_node = each;
    machine.within_node = {1, 0.25};
    machine.speeds = std::move(speeds);
    return machine;
}

TEST(Symmetry, OfNodesThatAreAlikeAsManyCountAsThereAreTasks) {
    const TaskGraph graph = TaskGraph::independent(3);
    const auto counted = [&graph](const Machine& machine) {
        return Symmetry(Problem(graph, machine)).processors();
    };
    EXPECT_EQ(counted(Machine::equal(100)), 3U);
    EXPECT_EQ(counted(Machine::equal(2)), 2U);
    EXPECT_EQ(counted(cores_in_nodes(100, 4)), 12U);
    EXPECT_EQ(counted(cores_in_nodes(11, 4)), 11U);
    EXPECT_EQ(counted(cores_in_nodes(4, 2, {1, 1, 2, 2})), 4U);
}

TEST(Symmetry, KindsOfProcessorsAreToldApart) {
    const TaskGraph graph = TaskGraph::independent(3);
    const auto kinds = [&graph](const Machine& machine) { return Symmetry(Problem(graph, machine)).kinds(); };
    EXPECT_EQ(kinds(cores_in_nodes(100, 4)), 1U);
    EXPECT_EQ(kinds(cores_in_nodes(4, 2, {1, 1, 2, 2})), 2U);
    EXPECT_EQ(kinds(cores_in_nodes(4, 2, {1, 2, 1, 1})), 3U);
    EXPECT_EQ(kinds(Machine::unrelated(4, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2})), 4U);
}

TEST(Symmetry, BehindAnUnusedProcessorComesTheFirstThatMayDiffer) {
    const TaskGraph graph = TaskGraph::independent(9);
    const Problem alike(graph, cores_in_nodes(8, 4)), unequal(graph, cores_in_nodes(4, 2, {1, 1, 2, 3}));
    EXPECT_EQ(Symmetry(alike).behind_unused(0), 8U);
    EXPECT_EQ(Symmetry(alike).behind_unused(1), 4U);
    EXPECT_EQ(Symmetry(unequal).behind_unused(0), 2U);
    EXPECT_EQ(Symmetry(unequal).behind_unused(2), 3U);
}

TEST(Symmetry, ProcessorsAreNumberedByFirstUseWithinTheirNodes) {
    const TaskGraph graph = TaskGraph::independent(5);
    const auto renumbered = [&graph](const Machine& machine, Processors processors) {
        Symmetry(Problem(graph, machine)).renumber({4, 3, 2, 1, 0}, processors);
        return processors;
    };
    EXPECT_EQ(renumbered(cores_in_nodes(100, 4), {3, 98, 2, 97, 99}), (Processors{5, 2, 4, 1, 0}));
    // The last of three nodes has one core, and stays the last.
    EXPECT_EQ(renumbered(cores_in_nodes(9, 4), {0, 8, 7, 8, 7}), (Processors{4, 8, 0, 8, 0}));
    const Processors as_they_are{3, 2, 1, 1, 0};
    EXPECT_EQ(renumbered(cores_in_nodes(4, 2, {1, 1, 2, 2}), as_they_are), as_they_are);
}

TEST(ExhaustiveSearch, FindsTheOptimumOnCoresOfNodes) {
    const std::vector<Machine> machines = {cores_in_nodes(5, 2), cores_in_nodes(3, 3),
                                           cores_in_nodes(4, 2, {1, 1, 2, 2}),
                                           cores_in_nodes(4, 2, {1, 2, 1, 2})};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        TaskGraphBuilder builder;
        for (TaskIndex task = 0; task < 4; ++task) {
            builder.add_task(static_cast<double>(random.below(5)));
            for (TaskIndex before = 0; before < task; ++before)
                if (random.below(2) == 0)
                    builder.add_edge(before, task, static_cast<double>(random.below(6)));
        }
        const TaskGraph graph = builder.build();
        for (const Machine& machine : machines) {
            const Problem problem(graph, machine);
            const Schedule known = make("serial")->schedule(problem);
            const Schedule found = search_exhaustively(problem, known, 1'000'000, {});
            testing::expect_feasible(problem, found, "exhaustive search");
            EXPECT_TRUE(found.proved_optimal()) << seed;
            EXPECT_NEAR(found.makespan(), testing::least_of_all(problem), 1e-9) << seed;
        }
    }
}

/// In seconds: processors of 1 Gf/s, messages between nodes at half the bandwidth of those within.
Machine large_machine(ProcessorIndex nodes, ProcessorIndex cores) {
    return Machine::nodes({nodes, cores}, 1e9, {1e-4, 1 / 0.25e9}, {1e-4, 1 / 0.125e9});
}

// Ten tasks. On a thousand nodes the search had compared 16000 processors in each of its steps, and on four
// it had ended before the best schedule.
TEST(Portfolio, NodesThatAreAlikeNeitherCostTimeNorSchedules) {
    const auto file = graphs::load_graph("fork_join:width=8,stages=1,spread=1,bytes=500kB,seed=2");
    const double on_one_node =
        make("portfolio")->schedule(Problem(file.graph, large_machine(1, 4))).makespan();
    for (const auto& machine : {large_machine(4, 4), large_machine(1000, 16)}) {
        const Problem problem(file.graph, machine);
        const Schedule schedule = make("portfolio")->schedule(problem);
        testing::expect_feasible(problem, schedule, "portfolio");
        EXPECT_TRUE(schedule.proved_optimal());
        EXPECT_LE(schedule.makespan(), on_one_node * (1 + 1e-12));
    }
}

// 38 tasks: the searches make fewer steps, because each compares all processors.
TEST(Portfolio, AThousandProcessorsThatAllDifferCostNoMoreThanSixteen) {
    const auto file = graphs::load_graph("fork_join:width=12,stages=3,spread=1,bytes=500kB");
    Machine machine = large_machine(1000, 1);
    for (int i = 0; i < 1000; ++i) machine.speeds.push_back(1e9 + i * 1e6);
    const Problem problem(file.graph, machine);
    const Schedule schedule = make("portfolio")->schedule(problem);
    testing::expect_feasible(problem, schedule, "portfolio");
    EXPECT_LE(schedule.makespan(), make("heft")->schedule(problem).makespan());
}

}  // namespace
}  // namespace heddle::schedulers
