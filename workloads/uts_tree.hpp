// The trees of the Unbalanced Tree Search benchmark (Olivier et al., "UTS: an unbalanced tree search
// benchmark", LCPC 2006): computes a node's children. The search itself is builtin/uts.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::workloads {

/// A node of the tree: 20 bytes of SHA-1 state, which determine everything below it, and its depth.
struct UtsNode {
    std::array<std::uint8_t, 20> state;
    std::int32_t depth;
};

/// How many children a node has, by the benchmark's definition.
struct UtsTree {
    enum class Type : std::uint8_t { binomial, geometric, hybrid };
    enum class Shape : std::uint8_t {
        linear,
        exponential,
        cyclic,
        fixed
    };  ///< how the branching factor falls with depth

    Type type = Type::geometric;
    Shape shape = Shape::linear;
    double root_branching = 4;               ///< b: expected children at the root
    std::int32_t depth = 6;                  ///< d: geometric trees end near here
    std::int32_t seed = 0;                   ///< r
    double non_leaf_probability = 0.234375;  ///< q: binomial
    std::int32_t non_leaf_children = 4;      ///< m: binomial
    double shift = 0.5;                      ///< f: a hybrid tree is geometric above this share of `depth`

    /// The benchmark cuts off more children than these, except the root's of a binomial tree.
    static constexpr std::int32_t children_max = 100;

    UtsNode root() const;
    std::int32_t children(const UtsNode& node) const;

    /// How many nodes the parameters let expect from one node down, itself included, by the node's depth;
    /// deeper than the last entry as there. E(k) = 1 + b(k) E(k + 1) where the tree is geometric, with b(k)
    /// the expected children at depth k; 1 / (1 - m q) where it is binomial. All are from 1 to 10^15,
    /// also where the expectation is infinite.
    std::vector<double> expected_nodes() const;

    /// Child number `index` of a node: SHA-1 of the parent's state and the number, as the benchmark's
    /// generator splits.
    static UtsNode child(const UtsNode& node, std::int32_t index);

private:
    std::int32_t binomial_children(double uniform) const;
    std::int32_t geometric_children(const UtsNode& node, double uniform) const;
    bool geometric_at(std::int32_t at_depth) const;
    double branching_at(std::int32_t at_depth) const;
};

/// What a search of a (sub)tree counts.
struct UtsCount {
    std::uint64_t nodes = 0;
    std::uint64_t leaves = 0;
    std::int64_t depth = 0;

    UtsCount& operator+=(const UtsCount& other) {
        nodes += other.nodes;
        leaves += other.leaves;
        depth = depth < other.depth ? other.depth : depth;
        return *this;
    }
};

}  // namespace heddle::workloads
