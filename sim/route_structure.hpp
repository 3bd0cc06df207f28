// Finds out which routes of a platform are alike, from the numbers of their ends. A platform of n nodes has
// n^2 routes; SimGrid computes each by walking it. Of routes that are alike, only one is walked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"

namespace heddle::sim {

/// Two routes with the same `kind` have as many links, as many shared ones, and the same latency and
/// bandwidth. Two from one node with the same `first` begin with the same shared link, and two to one node
/// with the same `last` end with the same one.
struct RouteKeys {
    std::uint64_t kind = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

struct RouteStructure {
    enum class Kind : std::uint8_t {
        none,   ///< nothing is known
        torus,  ///< all links alike; routes go through the dimensions in their order, the shorter way round
        dragonfly,  ///< all links alike; minimal routes, which leave a group over the first chassis
        tree,       ///< a route leads up to the level at which the nodes meet; nodes have one link up
        classes     ///< nodes of one class reach all others, and are reached, in the same way
    };

    Kind kind = Kind::none;
    std::vector<std::uint32_t> shape;      ///< as Network::shape; of a torus, a dragonfly and a tree
    std::vector<std::uint32_t> out_class;  ///< by node, of its routes to others
    std::vector<std::uint32_t> in_class;   ///< by node, of routes to it

    bool known() const { return kind != Kind::none; }

    /// `from` and `to` are different nodes.
    RouteKeys keys(NodeId from, NodeId to) const;

private:
    RouteKeys torus_keys(NodeId from, NodeId to) const;
    RouteKeys dragonfly_keys(NodeId from, NodeId to) const;
    RouteKeys tree_keys(NodeId from, NodeId to) const;
};

}  // namespace heddle::sim
