// Measures a partition (bytes between parts, imbalance) from the graph and the parts, not by a library.
#pragma once

#include <cstddef>
#include <span>

#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::partitioners {

/// Throws Error for a part that is not below `parts`, or parts for another number of data.
void check_parts(const DataGraph& graph, const Parts& part, std::size_t parts);

/// Weight of the edges between different parts, each edge once.
double cut(const DataGraph& graph, const Parts& part);

/// Weight of the edges between parts on different nodes.
double cut_between_nodes(const DataGraph& graph, const Parts& part, const WorkerGrid& grid);

/// The sizes of the copies of data that are sent where each datum goes once to each other part that has a
/// neighbour of it (METIS manual, section 3: total communication volume). A datum without a size counts 1.
double communication_volume(const DataGraph& graph, const Parts& part, std::size_t parts);

/// The most that a part's work exceeds its target, as a quotient. A target is the mean, or a share in
/// proportion to the part's speed. 1 is even, also for a graph without work. Of several constraints, the
/// worst.
double imbalance(const DataGraph& graph, const Parts& part, std::size_t parts,
                 std::span<const double> speeds = {});

}  // namespace heddle::partitioners
