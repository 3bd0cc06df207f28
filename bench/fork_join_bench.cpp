// Measures what a task costs: the shipped workloads on real threads beside the same program as plain calls.
// Only lines of one run can be compared.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/uts_tree.hpp"
#include "workloads/workload.hpp"

namespace {

using namespace heddle;

// Arguments: the workload's size, and the number of workers.
void run(benchmark::State& state, const std::string& name, const std::string& size_key,
         const std::string& size) {
    const auto& kind = workloads::find(name);
    Settings settings(kind.settings);
    settings.set(size_key, size);
    const auto cores = static_cast<CoreId>(state.range(0));
    double tasks = 0, seconds = 0;
    for (auto _ : state) {
        const auto workload = kind.make(settings);
        native::NativeOptions options;
        options.cores = cores;
        native::NativeBackend backend(options);
        runtime::Execution execution(backend, {}, [&](NodeId id) { return workload->program(id); });
        const auto result = execution.run();
        if (workload->check(result).kind != workloads::Verdict::Kind::right)
            state.SkipWithError("wrong answer");
        state.SetIterationTime(to_seconds(result.makespan));
        tasks = static_cast<double>(result.total.tasks);
        seconds += to_seconds(result.makespan);
    }
    state.counters["ns_per_task"] = seconds * 1e9 / (tasks * static_cast<double>(state.iterations()));
}

std::uint64_t fib(std::uint32_t n) {
    if (n < 2) return n;
    return fib(n - 1) + fib(n - 2);
}

void fib_plain(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(fib(static_cast<std::uint32_t>(state.range(0))));
}

std::uint64_t count(const workloads::UtsTree& tree, const workloads::UtsNode& node) {
    std::uint64_t nodes = 1;
    for (std::int32_t i = tree.children(node); i > 0; --i)
        nodes += count(tree, workloads::UtsTree::child(node, i - 1));
    return nodes;
}

void uts_plain(benchmark::State& state) {
    const workloads::UtsTree tree{workloads::UtsTree::Type::geometric, workloads::UtsTree::Shape::fixed, 4,
                                  10, 19};
    for (auto _ : state) benchmark::DoNotOptimize(count(tree, tree.root()));
}

BENCHMARK(fib_plain)->Arg(36)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, fib_36, "fib", "n", "36")
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, nqueens_12, "nqueens", "n", "12")
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(uts_plain)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, uts_T1, "uts", "tree", "T1")
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, uts_T3, "uts", "tree", "T3")
    ->Arg(1)
    ->Arg(2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
