// Measures the wall time of the simulator's own operations: switching between workers, small and large
// messages, building platforms. No scheduler takes part.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "sim/simgrid_process.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using Topology = Network::Topology;

/// One pause and resume of a worker: every charge is a switch, because the others of the node are as far.
void switches(benchmark::State& state) {
    const auto nodes = static_cast<NodeId>(state.range(0));
    const auto cores = static_cast<CoreId>(state.range(1));
    const std::int64_t steps = 4000000 / (nodes * cores);
    for (auto _ : state) {
        run(ideal(nodes, cores), [&](Script&, Context& context) {
            for (std::int64_t i = 0; i < steps; ++i) context.charge(ns(10 + context.id.core));
        });
    }
    state.SetItemsProcessed(state.iterations() * steps * nodes * cores);
}
BENCHMARK(switches)->Args({1, 4})->Args({1000, 4})->Args({1000, 32})->Unit(benchmark::kMillisecond);

/// A message of 64 bytes, from sending to delivery, to nodes all over the platform.
void small_messages(benchmark::State& state) {
    const auto nodes = static_cast<NodeId>(state.range(0));
    const std::int64_t steps = 400000 / nodes;
    Platform platform = ideal(nodes);
    platform.network.topology = Topology::fat_tree;
    for (auto _ : state) {
        run(platform, [&](Script&, Context& context) {
            for (std::int64_t i = 1; i <= steps; ++i) {
                send(context,
                     static_cast<NodeId>((context.id.node + i) % nodes == context.id.node
                                             ? (context.id.node + 1) % nodes
                                             : (context.id.node + i) % nodes),
                     64);
                compute(context, busy(us(1)));
            }
        });
    }
    state.SetItemsProcessed(state.iterations() * steps * nodes);
}
BENCHMARK(small_messages)->Arg(16)->Arg(1000)->Unit(benchmark::kMillisecond);

/// A message of 64 KB: range(1) of them under way at a time.
void large_messages(benchmark::State& state) {
    const auto nodes = static_cast<NodeId>(state.range(0));
    const std::int64_t steps = 20000 / nodes;
    Platform platform;
    platform.nodes = nodes;
    platform.overheads = {};
    platform.network.topology = Topology::fat_tree;
    for (auto _ : state) {
        run(platform, [&](Script&, Context& context) {
            for (std::int64_t i = 0; i < steps; ++i) {
                send(context,
                     static_cast<NodeId>((context.id.node + 1 + static_cast<NodeId>(7 * i) % (nodes - 1)) %
                                         nodes),
                     65536);
                compute(context, {10e9 * 1e-6 * static_cast<double>(state.range(1)), 0});
            }
        });
    }
    state.SetItemsProcessed(state.iterations() * steps * nodes);
}
BENCHMARK(large_messages)
    ->Args({16, 10})
    ->Args({16, 100})
    ->Args({1000, 10})
    ->Args({1000, 1000})
    ->Unit(benchmark::kMillisecond);

void building(benchmark::State& state) {
    Platform platform;
    platform.nodes = static_cast<NodeId>(state.range(1));
    platform.network.topology = static_cast<Topology>(state.range(0));
    state.SetLabel(name(platform.network.topology));
    for (auto _ : state) {
        const SimBackend backend(platform);
        benchmark::DoNotOptimize(backend.topology().nodes);
    }
}
BENCHMARK(building)->ArgsProduct({{0, 1, 2, 3}, {1000}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle::sim::testing
