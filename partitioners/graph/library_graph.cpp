// Scales weights to 32-bit integers, and refuses a graph whose sizes exceed them.
#include "partitioners/graph/library_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::partitioners {

namespace {

constexpr std::uint64_t index_max = std::numeric_limits<std::int32_t>::max();

}  // namespace

void require_32_bits(std::uint64_t count, std::string_view what, std::string_view library) {
    if (count <= index_max) return;
    throw Error(fmt::format("the graph has {} {}, but the indices of {} reach to {}", count, what, library,
                            index_max),
                "partition a coarser graph, or use block, cyclic or random");
}

std::vector<std::int32_t> whole_weights(const std::vector<double>& weights, std::int32_t least,
                                        double sum_max, std::size_t stride) {
    if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; })) return {};
    // The usual case first, and fast: weights that a library can take, in one pass without branches.
    std::vector<std::int32_t> result(weights.size());
    std::vector<double> sum(stride, 0);
    bool as_they_are = true;
    for (std::size_t first = 0; first < stride; ++first) {
        double one_sum = 0;
        int whole = 1;
        for (std::size_t i = first; i < weights.size(); i += stride) {
            const auto number =
                static_cast<std::int32_t>(std::min(weights[i], static_cast<double>(index_max)));
            result[i] = number;
            whole &= static_cast<int>(static_cast<double>(number) == weights[i]) &
                     static_cast<int>(number >= least);
            one_sum += weights[i];
        }
        sum[first] = one_sum;
        as_they_are = as_they_are && whole != 0 && one_sum <= sum_max;
    }
    if (std::all_of(sum.begin(), sum.end(), [](double one) { return one == 0; })) return {};
    if (as_they_are) return result;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double scaled =
            weights[i] > 0 ? std::max(1.0, std::round(weights[i] / sum[i % stride] * (sum_max / 2))) : 0;
        result[i] = std::max(least, static_cast<std::int32_t>(scaled));
    }
    return result;
}

LibraryGraph::LibraryGraph(const DataGraph& graph, const WorkerGrid& grid, std::string_view library,
                           double factor) {
    require_32_bits(graph.data(), "data", library);
    require_32_bits(graph.all_neighbours().size(), "ends of edges", library);
    require_32_bits(grid.workers(), "parts", library);
    begin.assign(graph.rows_begin().begin(), graph.rows_begin().end());
    // The same numbers of 32 bits, whose sign bit is never set: millions of them need no copy.
    neighbours = reinterpret_cast<const std::int32_t*>(graph.all_neighbours().data());
    ends = static_cast<std::int32_t>(graph.all_neighbours().size());
    const double sum_max = static_cast<double>(index_max) / factor;
    edge_weights = whole_weights(graph.all_edge_weights(), 1, sum_max);
    work = whole_weights(graph.all_work(), 0, sum_max, graph.constraints());
    // METIS adds the sizes of both ends of each edge.
    std::int32_t degree_max = 1;
    for (std::size_t datum = 0; datum + 1 < begin.size(); ++datum)
        degree_max = std::max(degree_max, begin[datum + 1] - begin[datum]);
    sizes = whole_weights(graph.all_sizes(), 0, sum_max / 2 / degree_max);
}

}  // namespace heddle::partitioners
