// Runs a graph of many small tasks with Heddle, as a placed graph on one node:
//
//     heddle_graph pair|stencil|trivial|chain WIDTH STEPS WORKERS WORK strict|ready
//
// Each task does WORK steps of a kernel and passes on no data. Columns are placed on workers in blocks. Of a
// chain, rows are placed in turn, so that each task waits for a task on another worker. With `strict`,
// workers keep to the order of the rows and steal nothing. With `ready`, any ready task may run or be stolen.
// Making the graph is not timed.
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "bench/native/kernel.hpp"
#include "model/placed_graph.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using model::PlacedGraph;

TaskGraph graph_of(const Pattern& pattern) {
    TaskGraphBuilder builder;
    for (std::uint32_t step = 0; step < pattern.steps; ++step) {
        for (std::uint32_t x = 0; x < pattern.width; ++x) {
            const TaskIndex task = builder.add_task(0);
            if (step == 0) continue;
            pattern.predecessors(
                x, [&](std::uint32_t from) { builder.add_edge(task - x - pattern.width + from, task, 0); });
        }
    }
    return builder.build();
}

Placement placement_of(const Pattern& pattern, CoreId workers) {
    std::vector<WorkerId> of_task;
    of_task.reserve(std::size_t{pattern.width} * pattern.steps);
    for (std::uint32_t step = 0; step < pattern.steps; ++step) {
        for (std::uint32_t x = 0; x < pattern.width; ++x) {
            const bool by_rows = pattern.kind == Pattern::Kind::chain;
            of_task.push_back({0, static_cast<CoreId>(by_rows ? step % workers
                                                              : std::uint64_t{x} * workers / pattern.width)});
        }
    }
    return {{1, workers}, std::move(of_task)};
}

class GraphProgram final : public model::PlacedGraphProgram {
public:
    GraphProgram(const PlacedGraph& plan, std::uint64_t work)
        : PlacedGraphProgram(plan, 0), work_(work), tasks_(plan.placement().grid().cores) {}

    runtime::Answer answer() const override {
        double sum = 0;
        for (const Tasks& tasks : tasks_) sum += static_cast<double>(tasks.count);
        return {{"tasks", sum}};
    }

protected:
    model::Datum run(model::Strand strand, TaskIndex, const model::Inputs&) override {
        work_steps(work_);
        ++tasks_[strand.worker().id.core].count;
        return nullptr;
    }

private:
    struct alignas(64) Tasks {
        std::uint64_t count = 0;
    };
    std::uint64_t work_;
    std::vector<Tasks> tasks_;
};

void run(const Pattern& pattern, CoreId workers, std::uint64_t work, bool strict) {
    const TaskGraph graph = graph_of(pattern);
    std::vector<TaskIndex> sequence(graph.tasks());
    std::iota(sequence.begin(), sequence.end(), 0U);
    const PlacedGraph plan(graph, placement_of(pattern, workers), sequence,
                           strict ? PlacedGraph::Order::strict : PlacedGraph::Order::ready,
                           PlacedGraph::Data::declared);
    runtime::Schedule schedule;
    if (strict) schedule.stealing.victim = "none";
    native::NativeOptions options;
    options.cores = workers;
    options.stack_bytes = schedule.stack_bytes;
    const double step = step_nanoseconds();
    native::NativeBackend backend(options);
    const double cpu_start = cpu_seconds();
    const auto result = runtime::Execution(backend, schedule, [&](NodeId) {
                            return std::make_unique<GraphProgram>(plan, work);
                        }).run();
    const double cpu = cpu_seconds() - cpu_start;
    if (result.answer.at(0).value != static_cast<double>(graph.tasks())) throw Error("tasks were lost");
    Outcome()
        .add("seconds", to_seconds(result.makespan))
        .add("cpu_seconds", cpu)
        .add("tasks", result.answer.at(0).value)
        .add("step_ns", step)
        .add("steals", static_cast<double>(result.total.steals_within_node))
        .add("peak_mb", peak_mb())
        .print();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) {
        std::fprintf(stderr, "usage: %s pair|stencil|trivial|chain WIDTH STEPS WORKERS WORK strict|ready\n",
                     argv[0]);
        return 2;
    }
    try {
        const auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(argv[i])); };
        run(Pattern::named(argv[1], number(2), number(3)), static_cast<CoreId>(number(4)), number(5),
            std::string_view(argv[6]) == "strict");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
