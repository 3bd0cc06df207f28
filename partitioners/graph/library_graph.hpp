// Converts a data graph for the partitioning libraries, with 32-bit rows and weights. Calls no library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/data_graph.hpp"
#include "base/placement.hpp"

namespace heddle::partitioners {

/// Throws Error where a 32-bit index of `library` cannot hold what the graph has of `what`.
void require_32_bits(std::uint64_t count, std::string_view what, std::string_view library);

/// Whole numbers of 32 bits for weights of any kind, none below `least` (libraries want edges of 1 at least).
/// Whole numbers from `least` with a sum up to `sum_max` are taken as they are. Others are scaled to a sum of
/// about half of `sum_max` and rounded; what is above 0 stays above 0. `stride`: every how many weights
/// belong together (one sum for each). Empty, which means all equal, for empty and for weights that are all
/// 0 or all 1.
std::vector<std::int32_t> whole_weights(const std::vector<double>& weights, std::int32_t least,
                                        double sum_max, std::size_t stride = 1);

struct LibraryGraph {
    std::vector<std::int32_t> begin;
    const std::int32_t* neighbours = nullptr;  ///< the data graph's own: it must outlive this
    std::int32_t ends = 0;                     ///< how many neighbours there are
    std::vector<std::int32_t> edge_weights;    ///< empty: all 1
    std::vector<std::int32_t> work;            ///< empty: all 1
    std::vector<std::int32_t> sizes;           ///< empty: all 1

    /// Throws Error where the graph, or the number of parts, is too large for 32 bits. `factor`: by how much
    /// the library multiplies sums of weights.
    LibraryGraph(const DataGraph& graph, const WorkerGrid& grid, std::string_view library, double factor = 1);
};

}  // namespace heddle::partitioners
