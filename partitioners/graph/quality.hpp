// How good a partition is, counted from the graph and the parts alone: whoever made them is not asked.
#pragma once

#include <cstddef>

#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::partitioners {

/// Throws Error for a part that is not below `parts`, or parts for another number of data.
void check_parts(const DataGraph& graph, const Parts& part, std::size_t parts);

/// Weight of the edges between different parts, each edge once.
double cut(const DataGraph& graph, const Parts& part);

/// Weight of the edges between parts on different nodes.
double cut_between_nodes(const DataGraph& graph, const Parts& part, const WorkerGrid& grid);

/// Copies of data that are sent where each datum goes once to each other part that has a neighbour of it
/// (METIS manual, section 3: total communication volume).
double communication_volume(const DataGraph& graph, const Parts& part, std::size_t parts);

/// The most work in one part divided by the mean; 1 is even, also where there is no work. Of several
/// constraints, the worst.
double imbalance(const DataGraph& graph, const Parts& part, std::size_t parts);

}  // namespace heddle::partitioners
