// Parts of which stealing policies are made: the other workers of a node, or other nodes, in an order that
// begins at a random one.
#pragma once

#include <algorithm>
#include <span>

#include "runtime/stealing/policy.hpp"

namespace heddle::runtime {

/// The other workers of the thief's node, from a random one on: the part that several policies begin with.
class LocalRound {
public:
    explicit LocalRound(const ThiefView& view) : cores_(view.topology->cores) {}

    void restart(Random& random) {
        left_ = cores_ > 1;
        if (left_) begin_ = static_cast<CoreId>(random.below(cores_));
    }
    bool empty() const { return !left_; }
    Victim next() {
        left_ = false;
        return {Victim::Kind::colleagues, begin_};
    }

private:
    CoreId cores_;
    CoreId begin_ = 0;
    bool left_ = false;
};

/// After a round without success: a worker whose run has one node is woken when a colleague shares tasks.
inline Victim round_over(NodeId nodes) {
    return {nodes == 1 ? Victim::Kind::sleep : Victim::Kind::rest, 0};
}

/// A node other than `self`, each equally likely. The caller must know that there is another node.
inline Victim other_node(Random& random, NodeId self, NodeId nodes) {
    const auto pick = static_cast<NodeId>(random.below(nodes - 1));
    return {Victim::Kind::node, pick < self ? pick : pick + 1};
}

/// The other nodes of a node's group. Shares the lists of the topology, which must live as long.
class GroupNeighbours {
public:
    GroupNeighbours(const Topology& topology, NodeId self)
        : nodes_(topology.distances.members(topology.distances.group(self))),
          self_(static_cast<std::size_t>(std::ranges::lower_bound(nodes_, self) - nodes_.begin())) {}

    std::uint32_t count() const { return static_cast<std::uint32_t>(nodes_.size() - 1); }

    /// Each equally likely. The caller must know that there is one.
    NodeId pick(Random& random) const {
        const std::size_t index = random.below(nodes_.size() - 1);
        return nodes_[index < self_ ? index : index + 1];
    }

private:
    std::span<const NodeId> nodes_;
    std::size_t self_;  ///< where the node itself is among them
};

}  // namespace heddle::runtime
