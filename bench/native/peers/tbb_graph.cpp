// Runs the benchmark's task graphs with oneTBB's flow graph: a continue_node for each task. Making the graph
// is not timed, as for Heddle; a graph of ten million tasks takes several gigabytes.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>

#include "bench/native/peers/graph_main.hpp"

namespace {

using namespace heddle::bench;
namespace flow = tbb::flow;

GraphRun run(const Pattern& pattern, int workers, std::uint64_t work) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(workers));
    GraphRun done;
    tbb::task_arena(workers).execute([&] {
        std::vector<TaskCount> counts(static_cast<std::size_t>(workers));
        flow::graph graph;
        using Node = flow::continue_node<flow::continue_msg>;
        std::deque<Node> nodes;
        for (std::uint32_t step = 0; step < pattern.steps; ++step) {
            for (std::uint32_t x = 0; x < pattern.width; ++x) {
                nodes.emplace_back(graph, [of_thread = counts.data(), work](const flow::continue_msg&) {
                    work_steps(work);
                    ++of_thread[tbb::this_task_arena::current_thread_index()].count;
                });
                if (step == 0) continue;
                const std::size_t row = std::size_t{step - 1} * pattern.width;
                pattern.predecessors(
                    x, [&](std::uint32_t from) { flow::make_edge(nodes[row + from], nodes.back()); });
            }
        }
        const bool all_begin = pattern.kind == Pattern::Kind::trivial;
        const double start = seconds_now(), cpu_start = cpu_seconds();
        for (std::size_t i = 0; i < (all_begin ? nodes.size() : pattern.width); ++i) nodes[i].try_put({});
        graph.wait_for_all();
        done.seconds = seconds_now() - start;
        done.cpu_seconds = cpu_seconds() - cpu_start;
        for (const TaskCount& count : counts) done.tasks += count.count;
    });
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    return graph_main(argc, argv, run);
}
