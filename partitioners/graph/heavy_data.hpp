// Handles data that alone are as much work as a part: each gets its own part; a library divides the rest.
#pragma once

#include <vector>

#include "partitioners/graph/graph_partitioner.hpp"

namespace heddle::partitioners {

/// The heaviest datum gets the largest share as long as it weighs at least that share of what is left, or as
/// long as there are no more data than parts. With several constraints, the first decides.
struct HeavyData {
    HeavyData(const DataGraph& graph, const std::vector<double>& shares_of_parts);

    Parts alone;                       ///< the part of each datum that has one to itself; 0 for the rest
    std::vector<DatumIndex> rest;      ///< data without a part, in their order
    std::vector<std::uint32_t> parts;  ///< that are left for the rest; one at least
    std::vector<double> shares;        ///< of these, with a sum of 1
};

}  // namespace heddle::partitioners
