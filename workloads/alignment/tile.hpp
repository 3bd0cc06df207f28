// Computes tiles of an alignment matrix in vectors: a tile is as many rows of a stripe as are computed at
// once. Used by block.cpp, which joins tiles, and by tests.
#pragma once

#include "workloads/alignment/block.hpp"

namespace heddle::workloads::alignment {

/// The rows of a stripe that are not computed yet.
struct Rest {
    std::span<const Letter> rows;
    std::size_t row;  ///< number of the first
    Edges edges;      ///< around them; the columns are the stripe's

    /// The edges of the first rows only.
    Edges first(std::size_t height) const;
    /// The first rows are computed. `corner`: H left of the last of them.
    void drop(std::size_t height, Score corner);
};

/// Whether vectors of such numbers are of use with these scores.
template <class Number>
bool holds(const Scoring& scoring);

/// How many columns a stripe has at most.
std::size_t width_max(Path path);

/// Computes rows in vectors of `Number`s: the first ones, as far as their values fit. Makes `best` the better
/// one of it and what is in them. False, and nothing is done, where not even the first row fits.
template <class Number>
bool compute_tile(Rest& rest, const Columns& columns, const Columns::Stripe& stripe, Best& best);

}  // namespace heddle::workloads::alignment
