// Tests that no task of a chain is ever stolen, under any policy and placement. A chain has one ready task at
// a time, and its owner is idle or has just ended the task before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/placed_graph_testing.hpp"

namespace heddle::testing_placed {
namespace {

using model::PlacedGraph;

/// A chain whose links carry random data, and a worker for each task, at random.
struct PlacedChain {
    TaskGraph graph;
    std::vector<WorkerId> workers;
    std::vector<TaskIndex> sequence;
};

PlacedChain random_chain(Random& random, WorkerGrid grid) {
    const auto tasks = static_cast<TaskIndex>(2 + random.below(12));
    TaskGraphBuilder builder;
    PlacedChain chain;
    for (TaskIndex task = 0; task < tasks; ++task) {
        builder.add_task(1 + static_cast<double>(random.below(20)));
        chain.workers.push_back(grid.worker(random.below(grid.workers())));
        if (random.below(2) == 0 && task > 0) chain.workers.back() = chain.workers[task - 1];
        chain.sequence.push_back(task);
        if (task > 0) builder.add_edge(task - 1, task, static_cast<double>(random.below(100)));
    }
    chain.graph = builder.build();
    return chain;
}

TEST(IdleOwner, LosesNoTaskOfAChain) {
    const auto policies = runtime::victim_policies();
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        inprocess::Options options;
        options.nodes = static_cast<NodeId>(1 + random.below(5));
        options.cores = static_cast<CoreId>(1 + random.below(3));
        options.seed = seed;
        options.gate_open = random.below(2) == 0;
        for (NodeId node = 0; node < options.nodes; ++node)
            options.group.push_back(static_cast<std::uint32_t>(node % (1 + seed % 3)));
        const WorkerGrid grid{options.nodes, options.cores};
        const PlacedChain chain = random_chain(random, grid);
        const PlacedGraph plan(chain.graph, Placement(grid, chain.workers), chain.sequence,
                               PlacedGraph::Order::ready, PlacedGraph::Data::declared);
        runtime::Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = policies[seed % policies.size()];
        if (random.below(2) == 0) schedule.stealing.amount = runtime::Stealing::Amount::half;
        if (random.below(2) == 0) schedule.stealing.busy = runtime::Stealing::Busy::wait;
        inprocess::InprocessBackend backend(options);
        Diary diary(chain.graph.tasks());
        runtime::Execution execution(backend, schedule, [&](NodeId node) {
            return std::make_unique<DiaryProgram>(plan, node, diary);
        });
        const runtime::RunResult result = execution.run();
        EXPECT_EQ(result.total.steals_within_node + result.total.steals_between_nodes, 0U)
            << schedule.stealing.victim;
        for (TaskIndex task = 0; task < chain.graph.tasks(); ++task)
            EXPECT_EQ(diary[task].worker, chain.workers[task]) << "task " << task;
    }
}

}  // namespace
}  // namespace heddle::testing_placed
