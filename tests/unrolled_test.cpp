// Tests spawn trees that are opened before the run: their graph and its weights. Every program gives its
// answer under every placement and policy, in-process and natively. Also tests iterative programs, whose
// graph follows the data.
#include "workloads/unrolled.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/graph_source.hpp"
#include "partitioners/place_graph.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/cli_testing.hpp"
#include "tests/placement_testing.hpp"
#include "tests/seeds.hpp"
#include "workloads/uts_tree.hpp"

namespace heddle {
namespace {

using testing_placement::cluster;
using testing_placement::Ran;
using testing_placement::schedule;
using testing_placement::Stated;
using workloads::Unrolled;

/// Every node above depth `height` has `width` children.
struct FullTree {
    struct Arguments {
        std::int64_t depth;
    };
    using Count = std::uint64_t;

    std::uint32_t width;
    std::int64_t height;

    Arguments root() const { return {0}; }
    void children(const Arguments& node, std::vector<Arguments>& into) const {
        if (node.depth < height) into.insert(into.end(), width, {node.depth + 1});
    }
    double weight(const Arguments& node) const {
        double nodes = 1;
        for (std::int64_t depth = node.depth; depth < height; ++depth) nodes = 1 + width * nodes;
        return nodes;
    }
    Count visit(const Arguments&) const { return 1; }
    Count run(model::Strand, const Arguments& node) const { return static_cast<Count>(weight(node)); }
    runtime::Answer answer(Count count) const { return {{"nodes", static_cast<double>(count)}}; }
    std::size_t argument_bytes() const { return 12; }
    double unit_flops() const { return 5; }
};

Unrolled<FullTree> unrolled(const FullTree& tree, std::int64_t depth, NodeId nodes, CoreId cores) {
    Settings settings({workloads::UnrollLimits::setting()});
    settings.set("unroll", std::to_string(depth), {"file.yaml", 7});
    return {tree, workloads::UnrollLimits(settings, {nodes, cores}), cluster(nodes, cores),
            schedule("block", "none")};
}

TEST(Unrolled, UpperNodesAreTasksOfOneUnitAndLeavesCarryWhatIsBelow) {
    const auto full = unrolled({3, 6}, 2, 1, 2);
    const TaskGraph& graph = full.graph();
    ASSERT_EQ(graph.tasks(), 1 + 3 + 9);
    ASSERT_EQ(graph.edges(), 3 + 9);
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        const bool above = task < 4;
        EXPECT_EQ(full.opened(task), above);
        // Below a node at depth 2 of 6 there are 1 + 3 + 9 + 27 + 81 nodes.
        EXPECT_EQ(graph.flops(task), above ? 5 : 5 * 121);
        EXPECT_EQ(full.arguments(task).depth, task == 0 ? 0 : task < 4 ? 1 : 2);
        ASSERT_EQ(graph.successors(task).size(), above ? 3 : 0);
        for (const TaskGraph::Link& link : graph.successors(task)) {
            EXPECT_EQ(link.bytes, 12);
            EXPECT_EQ(full.arguments(link.task).depth, full.arguments(task).depth + 1);
        }
    }
    EXPECT_EQ(graph.total_work(), 5.0 * (1 + 3 + 9 + 27 + 81 + 243 + 729));
}

TEST(Unrolled, DepthZeroIsTheFirstWithEightTasksForEachWorker) {
    EXPECT_EQ(unrolled({2, 30}, 0, 1, 1).graph().tasks(), 15);          // 8 at depth 3
    EXPECT_EQ(unrolled({2, 30}, 0, 4, 2).graph().tasks(), 127);         // 64 at depth 6
    EXPECT_EQ(unrolled({2, 30}, 0, 3, 3).graph().tasks(), 255);         // 72 are wanted: 128 at depth 7
    EXPECT_EQ(unrolled({1000, 3}, 0, 4, 2).graph().tasks(), 1001);      // one level is more than enough
    EXPECT_EQ(unrolled({2, 3}, 0, 4, 2).graph().tasks(), 15);           // the whole tree is less
    EXPECT_EQ(unrolled({1, 1'000'000}, 0, 4, 2).graph().tasks(), 256);  // a chain: 32 for each worker
}

TEST(Unrolled, TooManyTasksAreAnErrorAtTheSetting) {
    try {
        unrolled({2, 40}, 30, 1, 1);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(
            std::string(error.what()),
            "file.yaml:7: the unrolled tree has more than 4000000 tasks; set workload.unroll to a lower "
            "depth");
    }
}

/// What a placement promises of a program, in units of its work. On one worker nothing but work takes time.
double promised_work(const Stated& stated, double unit_flops) {
    const auto workload = stated.make();
    workload->prepare(cluster(1, 1), schedule("block", "none"));
    return *workload->forecast().makespan_seconds * 1e9 / unit_flops;
}

Stated fib(int n, int unroll = 0) {
    return {"fib", {{"n", std::to_string(n)}, {"unroll", std::to_string(unroll)}}};
}
Stated queens(int n, int unroll = 0) {
    return {"nqueens", {{"n", std::to_string(n)}, {"unroll", std::to_string(unroll)}}};
}
Stated uts(int depth, int unroll = 0) {
    return {"uts", {{"tree", "T1"}, {"depth", std::to_string(depth)}, {"unroll", std::to_string(unroll)}}};
}

// fib(20) makes 21891 calls (OEIS A001595).
TEST(Unrolled, WeightsOfFibAreItsCalls) {
    for (const int depth : {1, 2, 7, 12, 30}) EXPECT_NEAR(promised_work(fib(20, depth), 20), 21891, 1e-6);
}

// 8 queens: 2057 boards with k queens in k rows, the empty one included; 10 queens: 35539 (backtracking
// without estimates, below the margin).
TEST(Unrolled, WeightsOfQueensAreNearThePlacementsAndExactWhereAllIsSeen) {
    EXPECT_NEAR(promised_work(queens(8, 8), 60), 2057, 1e-6);
    for (const int depth : {1, 2, 3}) {
        EXPECT_NEAR(promised_work(queens(8, depth), 60), 2057, 0.1 * 2057) << depth;
        EXPECT_NEAR(promised_work(queens(10, depth), 60), 35539, 0.1 * 35539) << depth;
    }
}

/// The mean number of nodes of trees with many different roots.
double mean_nodes(workloads::UtsTree tree, int roots) {
    double sum = 0;
    for (tree.seed = 0; tree.seed < roots; ++tree.seed) {
        std::vector<workloads::UtsNode> open{tree.root()};
        for (; !open.empty(); sum += 1) {
            const workloads::UtsNode node = open.back();
            open.pop_back();
            for (std::int32_t i = tree.children(node); i-- > 0;)
                open.push_back(workloads::UtsTree::child(node, i));
        }
    }
    return sum / roots;
}

TEST(Unrolled, ExpectedNodesOfUtsFollowTheParameters) {
    using Tree = workloads::UtsTree;
    // 1 + 4 + 16 + 64 below depth 7 of 10.
    const Tree t1{Tree::Type::geometric, Tree::Shape::fixed, 4, 10, 19};
    EXPECT_DOUBLE_EQ(t1.expected_nodes()[7], 85);
    EXPECT_DOUBLE_EQ(t1.expected_nodes()[10], 1);
    EXPECT_DOUBLE_EQ(t1.expected_nodes().back(), 1);
    const Tree t3{Tree::Type::binomial, Tree::Shape::linear, 2000, 6, 42, 0.124875, 8};
    EXPECT_NEAR(t3.expected_nodes().back(), 1 / (1 - 8 * 0.124875), 1e-6);

    // Against counted trees: their mean is the expectation.
    for (const Tree::Shape shape :
         {Tree::Shape::linear, Tree::Shape::exponential, Tree::Shape::cyclic, Tree::Shape::fixed}) {
        const Tree tree{Tree::Type::geometric, shape, 2, 4, 0};
        EXPECT_NEAR(mean_nodes(tree, 20000) / tree.expected_nodes()[0], 1, 0.05) << static_cast<int>(shape);
    }
    const Tree hybrid{Tree::Type::hybrid, Tree::Shape::fixed, 2, 4, 0, 0.2, 3, 0.5};
    EXPECT_NEAR(mean_nodes(hybrid, 20000) / hybrid.expected_nodes()[0], 1, 0.05);
}

TEST(Unrolled, NothingIsUnrolledWithoutPlacement) {
    for (const Stated& stated : {fib(12), queens(6), uts(4)}) {
        inprocess::InprocessBackend backend({2, 2});
        const Ran ran = testing_placement::run(backend, stated, cluster(2, 2), schedule("none", "random"));
        EXPECT_TRUE(ran.right()) << ran.verdict.reason;
        EXPECT_FALSE(ran.forecast.makespan_seconds || ran.forecast.data_bytes);
    }
}

struct Shape {
    NodeId nodes;
    CoreId cores;
};

struct Case {
    Stated stated;
    const char* counted;  ///< an answer that is the number of tasks
};

std::vector<Case> cases() {
    return {
        {fib(11), nullptr},
        {{"fib", {{"n", "14"}, {"cutoff", "6"}, {"unroll", "4"}}}, nullptr},
        {queens(6), "placements"},
        {queens(5, 5), "placements"},
        {uts(4), "nodes"},
        {{"uts", {{"tree", "T1"}, {"depth", "5"}, {"cutoff", "3"}, {"unroll", "2"}}}, nullptr},
        {{"uts", {{"tree", "T3"}, {"branching", "40"}, {"probability", "0.1"}}}, "nodes"},
        {{"bag", {{"tasks", "60"}, {"task_cost", "20f"}, {"spread", "1"}}}, nullptr},
    };
}

class UnrolledUnderPlacement : public testing::TestWithParam<std::string> {};

TEST_P(UnrolledUnderPlacement, GivesTheAnswerUnderEveryStealingInEveryInterleaving) {
    // It searches long, each time from the start.
    const bool slow = GetParam() == "portfolio";
    const std::uint64_t seeds = slow ? 1 : testing_seeds::seeds(20);
    for (const Case& one : cases()) {
        for (const std::string& victim : runtime::victim_policies()) {
            const bool stolen = victim != "none";
            if (slow && stolen && victim != "random") continue;
            std::uint64_t steals = 0;
            for (const Shape shape : {Shape{1, 1}, Shape{1, 3}, Shape{2, 1}, Shape{3, 2}}) {
                for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                    inprocess::InprocessBackend backend({shape.nodes, shape.cores, seed, seed % 3 == 0});
                    const Ran ran =
                        testing_placement::run(backend, one.stated, cluster(shape.nodes, shape.cores),
                                               schedule(GetParam(), victim, seed));
                    const auto& total = ran.result.total;
                    ASSERT_TRUE(ran.right())
                        << one.stated.name << ' ' << victim << ' ' << shape.nodes << " x " << shape.cores
                        << " seed " << seed << ": " << ran.verdict.reason;
                    if (one.counted) {
                        ASSERT_EQ(static_cast<double>(total.tasks), ran.answer(one.counted));
                    }
                    steals += total.steals_within_node + total.steals_between_nodes;
                    if (!stolen && ran.forecast.data_bytes) {
                        ASSERT_EQ(static_cast<double>(total.data_bytes), *ran.forecast.data_bytes);
                    }
                }
            }
            if (!slow) {
                EXPECT_EQ(steals > 0, stolen) << one.stated.name << ' ' << victim;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, UnrolledUnderPlacement, testing::ValuesIn(partitioners::placement_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(Unrolled, EveryPlacementGivesTheAnswerOnRealThreads) {
    for (const std::string& placement : partitioners::placement_names()) {
        if (placement == "portfolio") continue;  // searches long, and is in the test above
        for (const CoreId cores : {1U, 2U}) {
            for (const char* victim : {"none", "random", "hierarchical"}) {
                for (const Stated& stated : {fib(16), queens(7), uts(6)}) {
                    native::NativeBackend backend({.cores = cores});
                    const Ran ran = testing_placement::run(backend, stated, cluster(1, cores),
                                                           schedule(placement, victim));
                    ASSERT_TRUE(ran.right())
                        << stated.name << ' ' << placement << ' ' << victim << ": " << ran.verdict.reason;
                }
            }
        }
    }
}

class UnrolledOnTwoProcesses : public testing_cli::Folder {};

TEST_F(UnrolledOnTwoProcesses, PlacementsGiveTheAnswer) {
    for (const char* workload : {"{name: fib, n: 18}", "{name: nqueens, n: 8}", "{name: uts, depth: 6}"}) {
        for (const char* placement : {"block", "metis", "etf", "dsc"}) {
            for (const char* victim : {"none", "random", "hierarchical"}) {
                const std::string path =
                    file("run.yaml", std::string("workload: ") + workload +
                                         "\nplatform: {cores: 1}\nschedule: {placement: " + placement +
                                         ", stealing: {victim: " + victim + "}}\nbackend: native\n");
                const testing_cli::Said said = binary("launch -n 2 -- heddle run " + path + " --json");
                ASSERT_EQ(said.code, 0) << workload << ' ' << placement << ' ' << victim << said.err;
                ASSERT_THAT(said.out, testing::HasSubstr("\"ok\":true"));
            }
        }
    }
}

// KAAPI paper, section 3.5: tasks run where the datum that they write lives.
TEST(IterativePrograms, PartitionersKeepAllStepsOfACellOnOneWorker) {
    constexpr DatumIndex cells = 12 * 10;
    const graphs::GraphFile file = graphs::load_graph("stencil_2d:width=12,height=10,steps=7");
    ASSERT_EQ(file.data, cells);
    ASSERT_EQ(file.graph.tasks(), 7 * cells);
    for (const char* name : {"metis", "metis_recursive", "scotch", "two_level"}) {
        const partitioners::GraphToPlace what{&file.graph, file.writes, file.data, file.costs};
        const auto placed = partitioners::place_graph(name, what, cluster(3, 2), 1);
        std::vector<int> cells_of_node(3);
        for (TaskIndex task = 0; task < file.graph.tasks(); ++task) {
            ASSERT_EQ(placed.placement.of(task), placed.placement.of(task % cells)) << name;
            if (task < cells) ++cells_of_node[placed.placement.of(task).node];
        }
        // Even, and in three pieces: two cuts across the shorter side cross 20 edges of the mesh, each of
        // them twice in all steps but the first.
        EXPECT_THAT(cells_of_node, testing::Each(testing::AllOf(testing::Ge(34), testing::Le(46)))) << name;
        int crossing = 0;
        for (TaskIndex task = 0; task < file.graph.tasks(); ++task) {
            for (const TaskGraph::Link& link : file.graph.successors(task))
                crossing += placed.placement.of(task).node != placed.placement.of(link.task).node;
        }
        EXPECT_LE(crossing, 2 * 20 * 2 * 6) << name;
    }
}

}  // namespace
}  // namespace heddle
