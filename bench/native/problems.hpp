// Defines the fork/join problems of the benchmarks without tasks: n-queens boards, unbalanced trees, and what
// is counted. Each program adds the tasks of its library.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/queens.hpp"
#include "workloads/uts_tree.hpp"

namespace heddle::bench {

using workloads::UtsCount;
using workloads::UtsNode;
using workloads::UtsTree;

/// The trees T1 and T3 of the benchmark; 4,130,071 and 4,112,897 nodes.
inline UtsTree uts_tree(std::string_view name) {
    if (name == "T1") return {UtsTree::Type::geometric, UtsTree::Shape::fixed, 4, 10, 19};
    return {UtsTree::Type::binomial, UtsTree::Shape::linear, 2000, 6, 42, 0.124875, 8};
}

using Found = workloads::QueensFound;

/// As in Heddle's workload: a placement takes a few nanoseconds.
using BitBoard = workloads::QueensBoard;

/// A byte a queen, and every pair looked at again, as in most fork/join benchmarks: about eighty nanoseconds
/// a placement.
struct ByteBoard {
    std::array<std::int8_t, 18> queens{};
    std::int8_t rows = 0;
    std::int8_t size = 0;

    static ByteBoard empty(int n) { return {{}, 0, static_cast<std::int8_t>(n)}; }
    bool full() const { return rows == size; }
    /// Whether no other queen attacks the latest.
    bool fits() const {
        const int last = rows - 1, latest = queens[static_cast<std::size_t>(last)];
        for (int i = 0; i < last; ++i) {
            const int other = queens[static_cast<std::size_t>(i)];
            if (other == latest || other == latest - (last - i) || other == latest + (last - i)) return false;
        }
        return true;
    }

    template <class Visit>
    void places(Visit&& visit) const {
        for (std::int8_t column = 0; column < size; ++column) {
            ByteBoard next = *this;
            next.queens[static_cast<std::size_t>(next.rows++)] = column;
            if (next.fits()) visit(next);
        }
    }
};

/// The most places of a next queen.
inline constexpr int places_max = 18;

}  // namespace heddle::bench
