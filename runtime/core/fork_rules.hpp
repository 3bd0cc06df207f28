// Rules of the schedule for a worker's forks. The first forks may go along a tree of workers. A fork may be a
// plain call if enough tasks wait. All forks may be shared at once. Without rules, thieves get forks on
// demand. The code is in worker_forks.cpp.
#pragma once

#include <cstdint>

#include "base/ids.hpp"

namespace heddle::runtime {

/// The workers that one worker finds work for at the start, itself first: all of some neighbouring nodes, or
/// some of one node.
struct StartShare {
    NodeId node = 0;
    NodeId nodes = 1;
    CoreId core = 0;
    CoreId cores = 1;  ///< of its first node

    bool spreads() const { return nodes > 1 || cores > 1; }

    /// Keeps the first half, rounded up, and returns the other: nodes as long as there are several. The
    /// caller must know that it spreads.
    StartShare split() {
        StartShare other = *this;
        if (nodes > 1) {
            other.nodes = nodes / 2;
            nodes -= other.nodes;
            other.node = node + nodes;
        } else {
            other.cores = cores / 2;
            cores -= other.cores;
            other.core = core + cores;
        }
        return other;
    }
};

/// Of one worker, which alone uses them.
struct ForkRules {
    bool prunes = false;           ///< only `threshold` tasks are shared, and those beyond are plain calls
    bool counts_node = false;      ///< with all workers of the node, `threshold` for each
    std::uint32_t threshold = 0;   ///< tasks
    std::uint32_t operations = 0;  ///< forks and joins, for what happens now and then
    StartShare share;
};

}  // namespace heddle::runtime
