// Tests task graphs: what can be built, what is refused, and that Boost.Graph's algorithms run on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <functional>

#include "base/random.hpp"
#include "base/task_graph.hpp"
#include "base/task_graph_boost.hpp"

namespace heddle {
namespace {

using ::testing::ElementsAre;

/// 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 alone.
TaskGraph diamond() {
    TaskGraphBuilder builder;
    builder.add_task(1, "first");
    builder.add_task(10, "left");
    builder.add_task(20, "right");
    builder.add_task(2);
    builder.add_task(5);
    builder.add_edge(1, 3, 100);
    builder.add_edge(0, 2, 8);
    builder.add_edge(0, 1, 800);
    builder.add_edge(2, 3, 8);
    return builder.build();
}

TEST(TaskGraph, KnowsSuccessorsAndPredecessors) {
    const TaskGraph graph = diamond();
    EXPECT_EQ(graph.tasks(), 5U);
    EXPECT_EQ(graph.edges(), 4U);
    EXPECT_EQ(graph.name(1), "left");
    EXPECT_EQ(graph.name(3), "task 3");
    EXPECT_EQ(graph.total_work(), 38);
    std::vector<TaskIndex> after, before;
    for (const auto& link : graph.successors(0)) after.push_back(link.task);
    for (const auto& link : graph.predecessors(3)) before.push_back(link.task);
    EXPECT_THAT(after, ElementsAre(2, 1));
    EXPECT_THAT(before, ElementsAre(1, 2));
    EXPECT_EQ(graph.successors(0)[1].bytes, 800);
    EXPECT_TRUE(graph.successors(4).empty());
    EXPECT_TRUE(graph.predecessors(0).empty());
}

TEST(TaskGraph, FindsTheCriticalPathWithAndWithoutTheCostOfEdges) {
    const TaskGraph graph = diamond();
    const auto by_work = graph.critical_path();
    EXPECT_EQ(by_work.length, 23);
    EXPECT_THAT(by_work.tasks, ElementsAre(0, 2, 3));
    const auto by_bytes = graph.critical_path(1);
    EXPECT_EQ(by_bytes.length, 1 + 800 + 10 + 100 + 2);
    EXPECT_THAT(by_bytes.tasks, ElementsAre(0, 1, 3));
    EXPECT_EQ(TaskGraph::independent(7, 3).critical_path().length, 3);
    EXPECT_EQ(TaskGraph::independent(0).critical_path().length, 0);
    EXPECT_TRUE(TaskGraph::independent(0).critical_path().tasks.empty());
}

TaskGraph random_graph(Random& random) {
    TaskGraphBuilder builder;
    const auto tasks = static_cast<TaskIndex>(1 + random.below(60));
    std::vector<TaskIndex> hidden_order(tasks);
    for (TaskIndex task = 0; task < tasks; ++task) {
        builder.add_task(static_cast<double>(random.below(100)));
        hidden_order[task] = task;
    }
    for (TaskIndex task = tasks; task > 1; --task) {
        std::swap(hidden_order[task - 1], hidden_order[random.below(task)]);
    }
    for (std::uint64_t edge = random.below(3 * tasks); edge > 0 && tasks > 1; --edge) {
        const auto a = random.below(tasks), b = random.below(tasks);
        if (a == b) continue;
        builder.add_edge(hidden_order[std::min(a, b)], hidden_order[std::max(a, b)], 1);
    }
    return builder.build();
}

TEST(TaskGraph, OrdersEveryTaskAfterItsPredecessors) {
    Random random(11);
    std::size_t edges_seen = 0;
    for (int i = 0; i < 300; ++i) {
        const TaskGraph graph = random_graph(random);
        std::vector<std::size_t> place(graph.tasks());
        ASSERT_EQ(graph.topological_order().size(), graph.tasks());
        for (std::size_t k = 0; k < graph.tasks(); ++k) place[graph.topological_order()[k]] = k;
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            for (const auto& link : graph.successors(task)) {
                ASSERT_LT(place[task], place[link.task]);
                ++edges_seen;
            }
        }
    }
    EXPECT_GT(edges_seen, 1000U);
}

/// The longest path by trying all of them.
double longest_from(const TaskGraph& graph, TaskIndex task) {
    double rest = 0;
    for (const auto& link : graph.successors(task)) rest = std::max(rest, longest_from(graph, link.task));
    return rest + graph.flops(task);
}

TEST(TaskGraph, CriticalPathIsTheLongestOfAllPaths) {
    Random random(12);
    for (int i = 0; i < 100; ++i) {
        TaskGraphBuilder builder;
        for (int task = 0; task < 12; ++task) builder.add_task(static_cast<double>(random.below(50)));
        for (TaskIndex a = 0; a < 12; ++a) {
            for (TaskIndex b = a + 1; b < 12; ++b) {
                if (random.below(3) == 0) builder.add_edge(a, b, 0);
            }
        }
        const TaskGraph graph = builder.build();
        double longest = 0;
        for (TaskIndex task = 0; task < 12; ++task) longest = std::max(longest, longest_from(graph, task));
        const auto path = graph.critical_path();
        ASSERT_EQ(path.length, longest);
        double along = 0;
        for (const TaskIndex task : path.tasks) along += graph.flops(task);
        ASSERT_EQ(along, longest);
    }
}

std::string graph_refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(TaskGraph, RefusesACycleAndNamesItsTasks) {
    TaskGraphBuilder builder;
    for (const char* name : {"a", "b", "c", "d"}) builder.add_task(1, name);
    builder.add_edge(0, 1, 0);
    builder.add_edge(1, 2, 0);
    builder.add_edge(2, 3, 0);
    builder.add_edge(3, 1, 0, {"graph.dot", 7});
    EXPECT_EQ(
        graph_refusal([&] { builder.build(); }),
        "graph.dot:7: tasks wait for each other in a circle: b -> c -> d -> b; a task graph has no cycles; "
        "remove one of these edges");
    TaskGraphBuilder itself;
    itself.add_task(1, "alone");
    itself.add_edge(0, 0, 0);
    EXPECT_THAT(graph_refusal([&] { itself.build(); }), testing::HasSubstr("alone -> alone"));
}

TEST(TaskGraph, RefusesDanglingEdgesAndNegativeWeights) {
    TaskGraphBuilder builder;
    builder.add_task(1);
    builder.add_edge(0, 5, 0, {"graph.dot", 3});
    EXPECT_EQ(
        graph_refusal([&] { builder.build(); }),
        "graph.dot:3: the edge from task 0 to task 5 leads to a task that does not exist; the graph has 1 "
        "tasks, counted from 0");
    EXPECT_EQ(graph_refusal([&] {
                  builder.add_task(-1, "x", {"graph.dot", 4});
              }),
              "graph.dot:4: x has a work of -1 flops; the work of a task is a number, 0 or more");
    EXPECT_THAT(graph_refusal([&] { builder.add_task(std::nan("")); }), testing::HasSubstr("nan flops"));
    EXPECT_EQ(
        graph_refusal([&] {
            builder.add_edge(0, 1, -8, {"graph.dot", 5});
        }),
        "graph.dot:5: the edge from task 0 to task 1 carries -8 bytes; an edge carries a number of bytes, 0 "
        "or more");
}

TEST(TaskGraph, IsAGraphForBoost) {
    BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<TaskGraph>));
    BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<TaskGraph>));
    const TaskGraph graph = diamond();
    std::vector<TaskIndex> backwards;
    boost::topological_sort(graph, std::back_inserter(backwards));
    EXPECT_EQ(backwards.size(), 5U);
    std::vector<int> distance(graph.tasks(), 0);
    boost::breadth_first_search(graph, 0U,
                                boost::visitor(boost::make_bfs_visitor(
                                    boost::record_distances(distance.data(), boost::on_tree_edge()))));
    EXPECT_THAT(distance, ElementsAre(0, 1, 1, 2, 0));
}

}  // namespace
}  // namespace heddle
