// Tests schedulers on large graphs: schedules stay feasible, memory stays within its limit. (How long they
// take is for the benchmarks.)
#include <sys/resource.h>

#include "tests/scheduler_testing.hpp"

namespace heddle::schedulers {
namespace {

using testing::expect_feasible;
using testing::layered_graph;

/// The most memory the process ever had, in bytes.
double peak_memory() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

TEST(LargeGraphs, ListSchedulersPlaceAHundredThousandTasks) {
    const TaskGraph graph = layered_graph(100'000, 200, 2.5, 1, 1);
    const Problem problem(graph, Machine::nodes({16, 4}, 1, {0, 0.1}, {1, 1}));
    for (const char* name : {"heft", "cpop", "mcp", "etf", "fcp", "flb", "dps", "dsc"}) {
        const Schedule schedule = make(name)->schedule(problem);
        expect_feasible(problem, schedule, name);
        EXPECT_GT(speedup(problem, schedule), 16) << name;
    }
}

TEST(LargeGraphs, DscClustersAMillionTasksInUnder400BytesForEachTaskAndEdge) {
    const TaskGraph graph = layered_graph(1'000'000, 200, 2.5, 1, 1);
    for (const ProcessorIndex processors : {unbounded, 64U}) {
        const Problem problem(graph, Machine::equal(processors));
        expect_feasible(problem, make("dsc")->schedule(problem), "dsc");
    }
    EXPECT_LT(peak_memory(), 400.0 * static_cast<double>(graph.tasks() + graph.edges()));
}

}  // namespace
}  // namespace heddle::schedulers
