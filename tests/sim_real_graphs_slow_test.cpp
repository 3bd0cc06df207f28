// Simulates every placement of every published graph without overheads: each run takes exactly what its
// schedule promises, and never less than a lower bound.
#include "graphs/graph_file.hpp"
#include "tests/sim_placed_graphs.hpp"

namespace heddle::testing_placed {
namespace {

using schedulers::testing::data;

namespace fs = std::filesystem;

class RealGraphsSimulated : public ::testing::Test {
protected:
    void SetUp() override {
        if (data().empty()) GTEST_SKIP() << "no published graphs beside the project";
    }

    /// Weights become whole nanoseconds and bytes, so that no rounding can hide a difference, and no task
    /// takes no time, so that the order shows.
    static TaskGraph whole(const TaskGraph& graph) {
        double largest = 1;
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            largest = std::max(largest, graph.flops(task));
            for (const TaskGraph::Link& link : graph.successors(task))
                largest = std::max(largest, link.bytes);
        }
        const double scale = std::min(1.0, 1e6 / largest);
        TaskGraphBuilder builder;
        for (TaskIndex task = 0; task < graph.tasks(); ++task)
            builder.add_task(std::max(1.0, std::ceil(graph.flops(task) * scale)));
        for (TaskIndex task = 0; task < graph.tasks(); ++task) {
            for (const TaskGraph::Link& link : graph.successors(task))
                builder.add_edge(task, link.task, std::ceil(link.bytes * scale));
        }
        return builder.build();
    }

    static void hold(const std::vector<fs::path>& paths) {
        ASSERT_FALSE(paths.empty());
        constexpr WorkerGrid grids[] = {{4, 1}, {2, 2}, {8, 1}, {3, 4}};
        std::uint64_t number = 0;
        for (const fs::path& path : paths) {
            SCOPED_TRACE(path.filename().string());
            const TaskGraph graph = whole(graphs::read_task_graph(path.string()).graph);
            const WorkerGrid grid = grids[number % std::size(grids)];
            for (const std::string& name : partitioners::placement_names())
                expect_as_promised(name, graph, grid, number);
            ++number;
        }
    }
};

TEST_F(RealGraphsSimulated, StandardTaskGraphs) {
    hold(schedulers::testing::files_in(data() / "stg", ".stg"));
}

TEST_F(RealGraphsSimulated, SinnensGraphs) {
    hold(schedulers::testing::files_in(data() / "sinnen", ".dot"));
}

TEST_F(RealGraphsSimulated, HeterogeneousGraphsByTheirMeanCosts) {
    std::vector<fs::path> paths = schedulers::testing::files_in(data() / "hetero", ".txt");
    for (const fs::path& path : schedulers::testing::files_in(data() / "hetero", ".dag"))
        paths.push_back(path);
    hold(paths);
}

TEST_F(RealGraphsSimulated, Workflows) {
    std::vector<fs::path> paths = schedulers::testing::files_in(data() / "dax", ".xml");
    for (const fs::path& path : schedulers::testing::files_in(data() / "wfcommons", ".json"))
        paths.push_back(path);
    hold(paths);
}

}  // namespace
}  // namespace heddle::testing_placed
