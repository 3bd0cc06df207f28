// Compares our partitioners with a direct call of the library, on a mesh of a million data: the cost of the
// conversion, and equal cuts. The limit is 1.1 times the direct call. Argument: data on a side.
#include <benchmark/benchmark.h>
#include <metis.h>

#include <cstdio>

#include <scotch.h>

#include <vector>

#include "base/data_graph.hpp"
#include "partitioners/graph/graph_partitioner.hpp"
#include "partitioners/graph/quality.hpp"

namespace {

using heddle::DataGraph;
using heddle::DatumIndex;

constexpr int parts = 64;

DataGraph mesh(DatumIndex side) {
    std::vector<std::size_t> begin{0};
    std::vector<DatumIndex> neighbours;
    for (DatumIndex y = 0; y < side; ++y) {
        for (DatumIndex x = 0; x < side; ++x) {
            const DatumIndex cell = y * side + x;
            if (y > 0) neighbours.push_back(cell - side);
            if (x > 0) neighbours.push_back(cell - 1);
            if (x + 1 < side) neighbours.push_back(cell + 1);
            if (y + 1 < side) neighbours.push_back(cell + side);
            begin.push_back(neighbours.size());
        }
    }
    std::vector<double> weights(neighbours.size(), 1), work(std::size_t{side} * side, 1);
    return {std::move(begin), std::move(neighbours), std::move(weights), std::move(work)};
}

/// The graph as a C program would hold it, made outside the measured time.
struct Raw {
    explicit Raw(const DataGraph& graph)
        : begin(graph.rows_begin().begin(), graph.rows_begin().end()),
          neighbours(graph.all_neighbours().begin(), graph.all_neighbours().end()),
          weights(neighbours.size(), 1),
          work(graph.data(), 1) {}
    std::vector<int> begin, neighbours, weights, work;
};

heddle::partitioners::Parts as_parts(const std::vector<int>& part) {
    return {part.begin(), part.end()};
}

void metis_directly(benchmark::State& state) {
    const DataGraph graph = mesh(static_cast<DatumIndex>(state.range(0)));
    Raw raw(graph);
    std::vector<idx_t> part(graph.data());
    for (auto unused : state) {
        idx_t options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = 1;
        options[METIS_OPTION_UFACTOR] = 30;
        auto data = static_cast<idx_t>(graph.data());
        idx_t constraints = 1, count = parts, cut = 0;
        METIS_PartGraphKway(&data, &constraints, raw.begin.data(), raw.neighbours.data(), raw.work.data(),
                            nullptr, raw.weights.data(), &count, nullptr, nullptr, options, &cut,
                            part.data());
    }
    state.counters["cut"] = heddle::partitioners::cut(graph, as_parts(part));
}

void scotch_directly(benchmark::State& state) {
    const DataGraph graph = mesh(static_cast<DatumIndex>(state.range(0)));
    Raw raw(graph);
    std::vector<SCOTCH_Num> part(graph.data());
    for (auto unused : state) {
        SCOTCH_Context context;
        SCOTCH_contextInit(&context);
        SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
        SCOTCH_contextRandomSeed(&context, 1);
        SCOTCH_contextRandomReset(&context);
        SCOTCH_contextThreadSpawn(&context, 1, nullptr);
        SCOTCH_Graph plain, bound;
        SCOTCH_graphInit(&plain);
        SCOTCH_graphBuild(&plain, 0, static_cast<SCOTCH_Num>(graph.data()), raw.begin.data(), nullptr,
                          raw.work.data(), nullptr, static_cast<SCOTCH_Num>(raw.neighbours.size()),
                          raw.neighbours.data(), raw.weights.data());
        SCOTCH_graphInit(&bound);
        SCOTCH_contextBindGraph(&context, &plain, &bound);
        SCOTCH_Strat strategy;
        SCOTCH_stratInit(&strategy);
        SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATDEFAULT, parts, 0.03);
        SCOTCH_graphPart(&bound, parts, &strategy, part.data());
        SCOTCH_stratExit(&strategy);
        SCOTCH_graphExit(&bound);
        SCOTCH_graphExit(&plain);
        SCOTCH_contextExit(&context);
    }
    state.counters["cut"] = heddle::partitioners::cut(graph, as_parts(part));
}

void through_heddle(benchmark::State& state, const char* name) {
    const DataGraph graph = mesh(static_cast<DatumIndex>(state.range(0)));
    const auto partitioner = heddle::partitioners::make_graph_partitioner(name);
    heddle::partitioners::Parts part;
    for (auto unused : state) part = partitioner->partition(graph, {parts, 1});
    state.counters["cut"] = heddle::partitioners::cut(graph, part);
}

BENCHMARK(metis_directly)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(through_heddle, metis, "metis")->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(scotch_directly)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(through_heddle, scotch, "scotch")->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(through_heddle, metis_recursive, "metis_recursive")
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(through_heddle, two_level, "two_level")->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
