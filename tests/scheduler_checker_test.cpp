// Tests the checker of schedules: it finds every kind of mistake, bounds are right, bad input is refused.
#include <gmock/gmock.h>

#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// a (2) -> b (3) with 4 bytes, and c (1).
TaskGraph small_graph() {
    TaskGraphBuilder builder;
    builder.add_task(2, "a");
    builder.add_task(3, "b");
    builder.add_task(1, "c");
    builder.add_edge(0, 1, 4);
    return builder.build();
}

class Checker : public ::testing::Test {
protected:
    std::vector<std::string> violations(std::vector<Slot> slots) const {
        return verify(problem_, Schedule(problem_, std::move(slots)));
    }
    const TaskGraph graph_ = small_graph();
    const Problem problem_{graph_, Machine::equal(2)};
};

TEST_F(Checker, HasNothingToSayAboutAFeasibleSchedule) {
    EXPECT_THAT(violations({{0, 0, 2}, {0, 2, 5}, {1, 0, 1}}), IsEmpty());
    EXPECT_THAT(violations({{0, 0, 2}, {1, 6, 9}, {0, 7, 8}}), IsEmpty());
}

TEST_F(Checker, FindsDataThatArriveTooLate) {
    EXPECT_THAT(violations({{0, 0, 2}, {1, 5.9, 8.9}, {0, 2, 3}}),
                Contains(HasSubstr("data of a arrive there at 6")));
    EXPECT_THAT(violations({{0, 0, 2}, {0, 1, 4}, {1, 0, 1}}), Contains(HasSubstr("data of a")));
}

TEST_F(Checker, FindsTwoTasksAtOnce) {
    EXPECT_THAT(violations({{0, 0, 2}, {0, 2, 5}, {0, 4, 5}}),
                Contains(HasSubstr("while processor 0 is busy until 5")));
}

TEST_F(Checker, FindsAWrongDurationAndAStartBeforeTime) {
    EXPECT_THAT(violations({{0, 0, 2}, {0, 2, 4}, {1, 0, 1}}), Contains(HasSubstr("where it takes 3")));
    EXPECT_THAT(violations({{0, 0, 2}, {0, 2, 5}, {1, -1, 0}}), Contains(HasSubstr("starts at -1")));
}

TEST_F(Checker, FindsNumbersThatAreNone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(violations({{0, nan, nan}, {0, 2, 5}, {1, 0, 1}}).empty());
}

TEST_F(Checker, KnowsNodesFromProcessors) {
    const Problem nodes(graph_, Machine::nodes({2, 2}, 1, {0.5, 0}, {2, 1}));
    const auto with_b_on = [&](ProcessorIndex processor, double start) {
        return verify(nodes, Schedule(nodes, {{0, 0, 2}, {processor, start, start + 3}, {0, 2, 3}}));
    };
    EXPECT_THAT(with_b_on(1, 2.5), IsEmpty());
    EXPECT_FALSE(with_b_on(1, 2.4).empty());
    EXPECT_THAT(with_b_on(2, 8), IsEmpty());
    EXPECT_FALSE(with_b_on(2, 7.9).empty());
}

TEST(Schedule, RefusesProcessorsThatTheMachineLacks) {
    const TaskGraph graph = small_graph();
    const Problem problem(graph, Machine::equal(2));
    EXPECT_THROW(Schedule(problem, {{0, 0, 2}, {2, 6, 9}, {0, 2, 3}}), Error);
    EXPECT_THROW(Schedule(problem, {{0, 0, 2}}), Error);
}

TEST(Schedule, KnowsItsMeasures) {
    const TaskGraph graph = small_graph();
    const Problem problem(graph, Machine::equal(2));
    const Schedule schedule(problem, {{0, 0, 2}, {0, 2, 5}, {1, 0, 1}});
    EXPECT_DOUBLE_EQ(schedule.makespan(), 5);
    EXPECT_DOUBLE_EQ(schedule_length_ratio(problem, schedule), 1);
    EXPECT_DOUBLE_EQ(speedup(problem, schedule), 6.0 / 5);
    EXPECT_DOUBLE_EQ(efficiency(problem, schedule), 3.0 / 5);
    EXPECT_EQ(schedule.processors_used(), 2U);
    EXPECT_THAT(schedule.order(0), ::testing::ElementsAre(0, 1));
}

TEST(Bounds, AreThoseComputedByHand) {
    const TaskGraph graph = small_graph();
    const LowerBounds bounds = lower_bounds(Problem(graph, Machine::equal(2)));
    EXPECT_DOUBLE_EQ(bounds.critical_path, 5);
    EXPECT_DOUBLE_EQ(bounds.work, 3);
    // Nine tasks of 1: the first and the last run alone, seven between them on two processors.
    TaskGraphBuilder builder;
    for (int i = 0; i < 9; ++i) builder.add_task(1);
    builder.add_edge(0, 1, 0);
    builder.add_edge(1, 2, 0);
    for (TaskIndex i = 3; i < 9; ++i) {
        builder.add_edge(0, i, 0);
        builder.add_edge(i, 2, 0);
    }
    // 1 + 7/2, rounded up as all times are whole, + 1.
    const TaskGraph narrow = builder.build();
    EXPECT_DOUBLE_EQ(lower_bounds(Problem(narrow, Machine::equal(2))).best(), 6);
}

TEST(Problem, RefusesMachinesThatAreNone) {
    const TaskGraph graph = small_graph();
    EXPECT_THROW(Problem(graph, Machine::equal(0)), Error);
    EXPECT_THROW(Problem(graph, Machine::unrelated(2, {1, 2, 3})), Error);
    EXPECT_THROW(Problem(graph, Machine::unrelated(1, {1, -2, 3})), Error);
    Machine machine = Machine::equal(2);
    machine.speeds = {1};
    EXPECT_THROW(Problem(graph, machine), Error);
    machine.speeds = {1, 0};
    EXPECT_THROW(Problem(graph, machine), Error);
    machine.speeds = {};
    machine.between_nodes.latency = -1;
    EXPECT_THROW(Problem(graph, machine), Error);
}

TEST(Problem, MeansAreOverAllPairsOfProcessors) {
    const TaskGraph graph = small_graph();
    // Of the 12 ordered pairs of 4 processors in two nodes, 4 are within a node.
    const Problem problem(graph, Machine::nodes({2, 2}, 1, {0, 0}, {3, 0}));
    EXPECT_DOUBLE_EQ(problem.mean_delay(100), 2);
    const Problem two_speeds(graph, Machine::unrelated(2, {1, 3, 1, 1, 1, 1}));
    EXPECT_DOUBLE_EQ(two_speeds.mean_time(0), 2);
    EXPECT_DOUBLE_EQ(two_speeds.least_time(0), 1);
}

TEST(Schedulers, AnUnknownNameIsAnErrorWithTheNearest) {
    try {
        make("hefft");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.advice(), HasSubstr("heft"));
    }
}

}  // namespace
}  // namespace heddle::schedulers
