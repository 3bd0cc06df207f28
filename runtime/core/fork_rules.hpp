// What the schedule may say of a worker's forks, beyond that thieves get them on demand: that the first are
// sent along a tree, that a fork is a plain call if enough tasks wait, that all are shared at once. The code
// is in worker_forks.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.hpp"
#include "runtime/core/deque.hpp"

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

/// Of one worker, which alone uses them, except `waiting`.
struct ForkRules {
    bool may_call = false;         ///< if `threshold` tasks wait
    bool counts_node = false;      ///< with all workers of the node, `threshold` for each
    std::uint32_t threshold = 0;   ///< tasks
    std::uint32_t called = 0;      ///< slots of the deque that were called and not joined yet
    std::uint32_t operations = 0;  ///< called forks, for those that happen now and then
    StartShare share;
    std::atomic<std::uint32_t> waiting{0};  ///< with this worker, when it last forked a task

    /// Whether the slot was called.
    bool calls(const Slot& slot) const {
        return may_call && slot.state.load(std::memory_order_seq_cst) >= Slot::passed;
    }
};

}  // namespace heddle::runtime
