// Tests the simple placements (block, cyclic, none) on grids of every small size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/placement.hpp"
#include "partitioners/partitioner.hpp"

namespace heddle {
namespace {

TEST(Placement, EveryPartitionerPlacesEveryTaskOnAWorkerOfTheGrid) {
    ASSERT_THAT(partitioners::names(), testing::ElementsAre("none", "block", "cyclic"));
    for (const std::string& name : partitioners::names()) {
        const auto partitioner = partitioners::make(name);
        for (NodeId nodes = 1; nodes <= 4; ++nodes) {
            for (CoreId cores = 1; cores <= 3; ++cores) {
                for (TaskIndex tasks = 0; tasks <= 30; ++tasks) {
                    const auto placement = partitioner->place(TaskGraph::independent(tasks), {nodes, cores});
                    ASSERT_EQ(placement.tasks(), tasks);  // its constructor checks the workers
                }
            }
        }
    }
}

/// How many tasks each worker has, in the order of the workers.
std::vector<std::size_t> counts(const Placement& placement) {
    std::vector<std::size_t> result;
    for (std::size_t worker = 0; worker < placement.grid().workers(); ++worker) {
        result.push_back(placement.tasks_of(placement.grid().worker(worker)).size());
    }
    return result;
}

TEST(Placement, BlockGivesEqualRunsOfNeighbours) {
    for (TaskIndex tasks = 1; tasks <= 50; ++tasks) {
        const WorkerGrid grid{3, 2};
        const auto placement = partitioners::make("block")->place(TaskGraph::independent(tasks), grid);
        const auto each = counts(placement);
        ASSERT_LE(*std::max_element(each.begin(), each.end()) - *std::min_element(each.begin(), each.end()),
                  1U);
        for (TaskIndex task = 1; task < tasks; ++task) ASSERT_LE(placement.of(task - 1), placement.of(task));
    }
}

TEST(Placement, CyclicDealsTasksOut) {
    const auto placement = partitioners::make("cyclic")->place(TaskGraph::independent(14), {2, 3});
    EXPECT_EQ(placement.of(0), (WorkerId{0, 0}));
    EXPECT_EQ(placement.of(1), (WorkerId{0, 1}));
    EXPECT_EQ(placement.of(3), (WorkerId{1, 0}));
    EXPECT_EQ(placement.of(6), (WorkerId{0, 0}));
    EXPECT_THAT(counts(placement), testing::ElementsAre(3, 3, 2, 2, 2, 2));
}

TEST(Placement, NoneLeavesEverythingOnTheFirstWorker) {
    const auto placement = partitioners::make("none")->place(TaskGraph::independent(5), {2, 3});
    EXPECT_THAT(counts(placement), testing::ElementsAre(5, 0, 0, 0, 0, 0));
    EXPECT_EQ(placement.imbalance(TaskGraph::independent(5)), 6);
}

TEST(Placement, MeasuresImbalanceAndTrafficBetweenNodes) {
    TaskGraphBuilder builder;
    for (int i = 0; i < 4; ++i) builder.add_task(i + 1.0);
    builder.add_edge(0, 1, 10);
    builder.add_edge(1, 2, 20);
    builder.add_edge(2, 3, 40);
    const TaskGraph graph = builder.build();
    const auto placement = partitioners::make("block")->place(graph, {2, 1});
    EXPECT_EQ(placement.bytes_between_nodes(graph), 20);
    EXPECT_EQ(placement.imbalance(graph), 1.4);  // 7 of 10 on one of two
}

TEST(Placement, RefusesUnknownNamesAndWorkersOutsideTheGrid) {
    EXPECT_THROW(
        try { partitioners::make("blok"); } catch (const Error& error) {
            EXPECT_STREQ(error.what(),
                         "unknown placement \"blok\"; did you mean \"block\"? known: none, block, cyclic");
            throw;
        },
        Error);
    EXPECT_THROW(Placement({2, 2}, {{2, 0}}), Error);
    EXPECT_THROW(Placement({2, 2}, {{0, 2}}), Error);
}

}  // namespace
}  // namespace heddle
