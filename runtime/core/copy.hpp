// Describes a copy in memory, contiguous, strided, tiled or transposed, and counts the bytes that memory
// moves for it. Worker::copy makes it and pays for it.
#pragma once

#include <cstdint>

#include "base/platform.hpp"

namespace heddle::runtime {

/// Pieces of `bytes` each, `inner` of them in a sweep, and `outer` sweeps. All strides are in bytes, from the
/// beginning of one piece or sweep to that of the next.
struct Copy {
    struct Strides {
        std::uint64_t piece = 0;
        std::uint64_t sweep = 0;
    };
    std::uint64_t bytes = 0;
    std::uint64_t inner = 1;
    std::uint64_t outer = 1;
    Strides to;
    Strides from;

    /// A copy of fewer bytes takes no longer than noting that it was made.
    static constexpr std::uint64_t quick_bytes = 1024;
    bool quick() const { return inner == 1 && outer == 1 && bytes <= quick_bytes; }

    static Copy contiguous(std::uint64_t bytes) { return {bytes, 1, 1, {}, {}}; }

    /// `pieces` of `bytes`, which begin `from` apart at the source and `to` apart at the target.
    static Copy strided(std::uint64_t pieces, std::uint64_t bytes, std::uint64_t to, std::uint64_t from) {
        return {bytes, pieces, 1, {to, 0}, {from, 0}};
    }

    /// A tile of `rows` x `columns` elements of `element` bytes between two matrices, whose rows are `to` and
    /// `from` bytes long.
    static Copy tile(std::uint64_t rows, std::uint64_t columns, std::uint64_t element, std::uint64_t to,
                     std::uint64_t from) {
        return {element, columns, rows, {element, to}, {element, from}};
    }

    /// The same, transposed: element (i, j) becomes (j, i). It reads row after row.
    static Copy transposed(std::uint64_t rows, std::uint64_t columns, std::uint64_t element, std::uint64_t to,
                           std::uint64_t from) {
        return {element, columns, rows, {to, element}, {element, from}};
    }

    /// What memory moves: the lines that the copy reads and those that it writes. The first piece of each
    /// side begins with a line. A line that several sweeps use moves once if the lines of one sweep, of both
    /// sides, fit into the cache; else each sweep moves it again.
    double bytes_moved(const Cache& cache) const;

    /// Copies. The caller must have allocated both sides, which must not overlap.
    void carry_out(void* target, const void* source) const;
};

}  // namespace heddle::runtime
