// How the elements of an array are dealt out, over nodes and then over the threads of a node. In each
// dimension the distribution is BLOCK, BLOCK(m), CYCLIC, CYCLIC(m) or undistributed (Chiang, Wu, Lin: "Toward
// supporting data parallel programming on clusters of symmetric multiprocessors", section 3.2). Pure
// functions: it holds no elements.
//
//     const Layout rows({{.extent = n, .nodes = Distribution::block(), .node_parts = nodes,
//                         .threads = Distribution::block(), .thread_parts = threads},
//                        {.extent = n}});
//     const std::vector<Bounds> mine = rows.domain_of_thread(node, thread);
//
// Indices count from 0. A thread works on the memory of its node, so its domain is in the node's local
// indices; `global` says which elements of the whole array these are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace heddle::spmd {

using Index = std::uint64_t;

/// How one dimension is dealt out.
struct Distribution {
    enum class Kind : std::uint8_t { undistributed, block, cyclic };

    Kind kind = Kind::undistributed;
    Index size = 0;  ///< m of BLOCK(m) and CYCLIC(m); 0 without

    static Distribution none() { return {}; }
    static Distribution block(Index size = 0) { return {Kind::block, size}; }
    static Distribution cyclic(Index size = 0) { return {Kind::cyclic, size}; }
};

/// Indices i with lower <= i < upper and (i - lower) % stride < block. With `block` 1 this is the paper's
/// lower bound, upper bound and stride; contiguous indices are one block with a stride of its length.
struct Bounds {
    Index lower = 0;
    Index upper = 0;
    Index stride = 1;
    Index block = 1;

    bool empty() const { return lower >= upper; }
    bool contains(Index i) const { return i >= lower && i < upper && (i - lower) % stride < block; }
    Index size() const;

    bool operator==(const Bounds&) const = default;
};

/// One dimension of `extent` elements, dealt out in blocks of `block` elements to `parts`, in turns, part 0
/// first. BLOCK is the case of one turn, CYCLIC that of one element (Blackford et al.: "ScaLAPACK Users'
/// Guide", 1997, section 4.3).
class Dealt {
public:
    /// Throws Error if there is no part, or if BLOCK(m) has room for fewer elements than there are.
    Dealt(Index extent, Distribution distribution, std::uint32_t parts);

    Index extent() const { return extent_; }
    Index block() const { return block_; }
    std::uint32_t parts() const { return parts_; }

    /// How many elements a part has: ScaLAPACK's NUMROC.
    Index count(std::uint32_t part) const { return count_below(extent_, part); }
    /// How many of these come before an element, or all before the end.
    Index count_below(Index global, std::uint32_t part) const;
    /// The part that has an element: INDXG2P.
    std::uint32_t owner(Index global) const;
    /// The place of an element among those of its part: INDXG2L.
    Index local(Index global) const { return global / (block_ * parts_) * block_ + global % block_; }
    /// The element at a place of a part: INDXL2G.
    Index global(std::uint32_t part, Index local) const {
        return (local / block_ * parts_ + part) * block_ + local % block_;
    }
    /// The elements of a part.
    Bounds bounds(std::uint32_t part) const;

private:
    Index extent_;
    Index block_;
    std::uint32_t parts_;
};

/// A dimension of an array. Its parts of both levels are those of a grid.
struct Dimension {
    Index extent = 0;
    Distribution nodes = {};
    std::uint32_t node_parts = 1;
    Distribution threads = {};
    std::uint32_t thread_parts = 1;
};

/// A thread of a node.
struct Owner {
    NodeId node = 0;
    std::uint32_t thread = 0;

    auto operator<=>(const Owner&) const = default;
};

/// Nodes and threads are numbered along their grids, the last dimension fastest.
class Layout {
public:
    /// Throws Error for a dimension that cannot be dealt out so.
    explicit Layout(const std::vector<Dimension>& dimensions);

    std::size_t dimensions() const { return dimensions_.size(); }
    /// The nodes and threads that the grids have.
    NodeId nodes() const { return nodes_; }
    std::uint32_t threads() const { return threads_; }
    Index elements() const;

    /// How a dimension is dealt out over the nodes, and which part of it a node of the grid has.
    const Dealt& dealt(std::size_t dimension) const { return dimensions_[dimension].nodes; }
    std::uint32_t node_part(NodeId node, std::size_t dimension) const;

    // A node or thread beyond the grid has no elements.
    /// What a node has of each dimension: the extents of its local array.
    std::vector<Index> extents(NodeId node) const;
    /// The elements of a node, in global indices.
    std::vector<Bounds> domain_of_node(NodeId node) const;
    /// The elements of a thread, in local indices of its node.
    std::vector<Bounds> domain_of_thread(NodeId node, std::uint32_t thread) const;

    NodeId owner_node(std::span<const Index> global) const;
    Owner owner_thread(std::span<const Index> global) const;
    /// The threads that have an element of these, in ascending order: `references` has global indices.
    std::vector<Owner> owner_threads(std::span<const Bounds> references) const;

    /// An element of a node of the grid as the others know it, and back.
    std::vector<Index> global(NodeId node, std::span<const Index> local) const;
    std::vector<Index> local(std::span<const Index> global) const;

private:
    struct Levels {
        Dealt nodes;
        Distribution threads;
        std::uint32_t thread_parts;

        Dealt within(std::uint32_t node_part) const {
            return {nodes.count(node_part), threads, thread_parts};
        }
    };
    std::uint32_t thread_part(std::uint32_t thread, std::size_t dimension) const;
    void expect(std::size_t indices) const;

    std::vector<Levels> dimensions_;
    NodeId nodes_ = 1;
    std::uint32_t threads_ = 1;
};

}  // namespace heddle::spmd
