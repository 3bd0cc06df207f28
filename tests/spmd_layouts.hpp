// For tests: random layouts of distributed arrays, and indices in order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "model/spmd/layout.hpp"

namespace heddle::spmd::testing_spmd {

inline Distribution draw_way(Random& random, Index extent, std::uint32_t parts) {
    switch (random.below(parts == 1 ? 5 : 4)) {
        case 0:
            return Distribution::block();
        case 1:
            return Distribution::block((extent + parts - 1) / parts + 1 + random.below(3));
        case 2:
            return Distribution::cyclic();
        case 3:
            return Distribution::cyclic(1 + random.below(6));
        default:
            return Distribution::none();
    }
}

/// Of given extents, over at most `ranks` nodes.
inline Layout draw_layout(Random& random, const std::vector<Index>& extents, std::uint32_t ranks) {
    std::vector<Dimension> dimensions(extents.size());
    std::uint32_t left = ranks;
    const std::size_t first = random.below(extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i) {
        Dimension& dimension = dimensions[(first + i) % extents.size()];
        dimension.extent = extents[(first + i) % extents.size()];
        dimension.node_parts = static_cast<std::uint32_t>(1 + random.below(left));
        dimension.nodes = draw_way(random, dimension.extent, dimension.node_parts);
        left /= dimension.node_parts;
    }
    return Layout(dimensions);
}

/// Calls `visit` for each index below the extents, the last dimension fastest.
template <class Visit>
void for_each_index(const std::vector<Index>& extents, const Visit& visit) {
    std::vector<Index> at(extents.size(), 0);
    for (const Index extent : extents)
        if (extent == 0) return;
    while (true) {
        visit(at);
        std::size_t d = at.size();
        while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
        if (d == 0) return;
    }
}

/// The place of an element in an array of these extents.
inline Index row_major(const std::vector<Index>& extents, const std::vector<Index>& at) {
    Index place = 0;
    for (std::size_t d = 0; d < at.size(); ++d) place = place * extents[d] + at[d];
    return place;
}

}  // namespace heddle::spmd::testing_spmd
