// Deals out iterations over nodes, and those of a node over its pools: block, cyclic, block-cyclic. A program
// with another rule creates each filament where it wants it.
//
//     for (const auto [row, pool] : block(1, n - 1, fil.nodes(), pools.size()).of(fil.my_node()))
//         fil.create_filament(pools[pool], row);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/ids.hpp"

namespace heddle::filaments {

/// An iteration of a node, and the node's pool that it belongs to.
struct Iteration {
    std::int64_t index;
    std::size_t pool;

    friend bool operator==(const Iteration&, const Iteration&) = default;
};

/// A rule that gives each iteration from `begin` to `end` (excluded) to one pool of one node.
class Distribution {
public:
    enum class Kind : std::uint8_t { block, block_cyclic };

    Distribution(Kind kind, std::int64_t begin, std::int64_t end, std::int64_t block, NodeId nodes,
                 std::size_t pools)
        : kind_(kind),
          begin_(begin),
          end_(std::max(begin, end)),
          block_(block),
          nodes_(nodes),
          pools_(pools) {
        HEDDLE_ASSERT(block > 0 && nodes > 0 && pools > 0);
    }

    /// The iterations of a node in ascending order.
    std::vector<Iteration> of(NodeId node) const {
        HEDDLE_ASSERT(node < nodes_);
        return kind_ == Kind::block ? blocks_of(node) : cyclic_of(node);
    }

    /// The node that an iteration belongs to. It must be one of the rule's.
    NodeId node_of(std::int64_t index) const {
        HEDDLE_ASSERT(index >= begin_ && index < end_);
        if (kind_ == Kind::block_cyclic)
            return static_cast<NodeId>((index - begin_) / block_ % static_cast<std::int64_t>(nodes_));
        // The first guess is wrong by one at most, because parts differ by one iteration.
        auto node = static_cast<NodeId>((index - begin_) * nodes_ / (end_ - begin_));
        while (first(node, nodes_) > index - begin_) --node;
        while (first(node + 1, nodes_) <= index - begin_) ++node;
        return node;
    }

private:
    /// Where part `part` of `parts` begins, relative to `begin`: parts differ by one iteration at most.
    std::int64_t first(std::size_t part, std::size_t parts) const {
        return first_of(end_ - begin_, part, parts);
    }
    static std::int64_t first_of(std::int64_t count, std::size_t part, std::size_t parts) {
        const auto p = static_cast<std::int64_t>(part);
        const auto all = static_cast<std::int64_t>(parts);
        return count / all * p + count % all * p / all;
    }

    std::vector<Iteration> blocks_of(NodeId node) const {
        const std::int64_t low = first(node, nodes_);
        const std::int64_t count = first(node + 1, nodes_) - low;
        std::vector<Iteration> mine;
        mine.reserve(static_cast<std::size_t>(count));
        for (std::size_t pool = 0; pool < pools_; ++pool) {
            for (std::int64_t i = first_of(count, pool, pools_); i < first_of(count, pool + 1, pools_); ++i)
                mine.push_back({begin_ + low + i, pool});
        }
        return mine;
    }

    /// Blocks go to the nodes in turn, and those of a node to its pools in turn.
    std::vector<Iteration> cyclic_of(NodeId node) const {
        const std::int64_t round = block_ * static_cast<std::int64_t>(nodes_);
        std::vector<Iteration> mine;
        std::size_t pool = 0;
        for (std::int64_t low = begin_ + block_ * node; low < end_; low += round) {
            for (std::int64_t i = low; i < std::min(low + block_, end_); ++i) mine.push_back({i, pool});
            pool = (pool + 1) % pools_;
        }
        return mine;
    }

    Kind kind_;
    std::int64_t begin_;
    std::int64_t end_;
    std::int64_t block_;
    NodeId nodes_;
    std::size_t pools_;
};

/// Each node gets neighbouring iterations, and so does each of its pools. `pools`: of one node.
inline Distribution block(std::int64_t begin, std::int64_t end, NodeId nodes, std::size_t pools) {
    return {Distribution::Kind::block, begin, end, 1, nodes, pools};
}

/// One iteration after the other goes to the next node, and those of a node to its pools in turn.
inline Distribution cyclic(std::int64_t begin, std::int64_t end, NodeId nodes, std::size_t pools) {
    return {Distribution::Kind::block_cyclic, begin, end, 1, nodes, pools};
}

/// The same for `size` neighbouring iterations at a time.
inline Distribution block_cyclic(std::int64_t begin, std::int64_t end, std::int64_t size, NodeId nodes,
                                 std::size_t pools) {
    return {Distribution::Kind::block_cyclic, begin, end, size, nodes, pools};
}

}  // namespace heddle::filaments
