// Finds the alignment itself without storing the matrix. It stores the edges of blocks. From the alignment's
// end to its beginning, it computes once more only the blocks that the alignment passes.
#pragma once

#include <cstddef>
#include <span>

#include "workloads/alignment/block.hpp"
#include "workloads/alignment/transcript.hpp"

namespace heddle::workloads::alignment {

/// The edges that a block was computed from (block.hpp), as they were before. E and F may be empty where gaps
/// are linear.
struct KeptEdges {
    Score corner = 0;
    std::span<const Score> row_h, row_f, column_h, column_e;
};

/// Where a trace goes on: at a cell, in H (anything may end there) or in E or F (a gap that goes on to the
/// left or up).
struct TracePoint {
    enum class In { h, e, f };
    enum class Left { no, up, left, both };  ///< which edge of the block it went over

    std::size_t row =
        0;  ///< of the next cell; of the block that is entered next it is the last row after `up`
    std::size_t column = 0;
    In in = In::h;
    Left left = Left::no;  ///< no: the alignment begins here, behind the cell
};

/// Follows an alignment through a block, from `from` backwards until it begins or leaves the block, and
/// appends its edits, the last one first. Rows and columns count from the block's first cell. After leaving
/// upwards `row` has no meaning, to the left `column`; the caller goes on in that neighbour's last row or
/// column. Where several alignments are best it takes a pair of letters before a gap along the row before one
/// along the column, and closes a gap as soon as it can: the same alignment for every size of blocks.
TracePoint trace_block(const Scoring& scoring, std::span<const Letter> rows, std::span<const Letter> columns,
                       const KeptEdges& edges, const TracePoint& from, Transcript& reversed);

inline constexpr std::size_t align_block = 1024;

/// The best local alignment of a and b, on the caller's core: the one that ends at the place of Best
/// (block.hpp), and begins as late as it can. Needs 16 * a.size() * b.size() / block bytes for the edges
/// (half of it where gaps are linear) and block^2 for a block. Errors: a block size of 0.
Alignment align(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b,
                std::size_t block = align_block, Path path = fastest_path());

/// What `align` needs for the edges of two sequences of so many letters.
double align_bytes(const Scoring& scoring, std::size_t a, std::size_t b, std::size_t block = align_block);

}  // namespace heddle::workloads::alignment
