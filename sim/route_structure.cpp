// Computes which routes of a torus or dragonfly are alike, from the numbers of the nodes at their ends.
#include "sim/route_structure.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace heddle::sim {

RouteKeys RouteStructure::keys(NodeId from, NodeId to) const {
    switch (kind) {
        case Kind::torus:
            return torus_keys(from, to);
        case Kind::dragonfly:
            return dragonfly_keys(from, to);
        case Kind::tree:
            return tree_keys(from, to);
        case Kind::classes:
            return {std::uint64_t{out_class[from]} << 32 | in_class[to], in_class[to], out_class[from]};
        case Kind::none:
            break;
    }
    HEDDLE_ASSERT(false);
}

// A message goes through the dimensions one after the other. Where both ways round are equally long SimGrid
// goes up, unless it starts exactly half way. So the first link is that of the first dimension in which the
// nodes differ, upwards or downwards, and the last link that of the last such dimension.
RouteKeys RouteStructure::torus_keys(NodeId from, NodeId to) const {
    RouteKeys keys;
    bool differed = false;
    for (std::uint32_t dimension = 0; dimension < shape.size(); ++dimension) {
        const std::uint32_t extent = shape[dimension];
        const std::uint32_t a = from % extent;
        const std::uint32_t b = to % extent;
        from /= extent;
        to /= extent;
        if (a == b) continue;
        const std::uint32_t half = extent / 2;
        const bool up = (b > a && b <= a + half) || (a > half && (a + half) % extent >= b);
        const std::uint32_t apart = a < b ? b - a : a - b;
        keys.kind += std::min(apart, extent - apart);
        keys.last = 2 * dimension + (up ? 1 : 0);
        if (!differed) keys.first = keys.last;
        differed = true;
    }
    return keys;
}

// Every node has one link of its own. Which links lie between depends on whether the ends share group,
// chassis and router, and on whether the ways out of one group and into the other begin and end there
// already.
RouteKeys RouteStructure::dragonfly_keys(NodeId from, NodeId to) const {
    struct Place {
        std::uint32_t router, chassis, group;
    };
    const auto place_of = [this](NodeId node) {
        const std::uint32_t router = node / shape[3];
        return Place{router % shape[2], router / shape[2] % shape[1], router / shape[2] / shape[1]};
    };
    const Place a = place_of(from);
    const Place b = place_of(to);
    RouteKeys keys;
    for (const bool fact : {a.group == b.group, a.chassis == b.chassis, a.router == b.router,
                            a.router == b.group, a.chassis == 0, b.router == a.group, b.chassis == 0})
        keys.kind = 2 * keys.kind + (fact ? 1 : 0);
    return keys;
}

RouteKeys RouteStructure::tree_keys(NodeId from, NodeId to) const {
    RouteKeys keys;
    for (std::size_t level = 0; level < shape.size() && from != to; ++level, ++keys.kind) {
        from /= shape[level];
        to /= shape[level];
    }
    return keys;
}

}  // namespace heddle::sim
