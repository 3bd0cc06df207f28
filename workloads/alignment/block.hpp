// Computes a block of the matrix of a local alignment. It takes the values on the upper and left edges, and
// gives those on the lower and right ones, with the best score inside. It does not keep the inside: trace.hpp
// finds the alignment.
//
// The recurrences (Smith and Waterman, J. Mol. Biol. 147, 1981; Gotoh, J. Mol. Biol. 162, 1982), with rows
// for the letters of a and columns for those of b, and every value outside of the matrix 0:
//   E(i,j) = max(E(i,j-1) - extend, H(i,j-1) - open)                   ends in a gap along the row
//   F(i,j) = max(F(i-1,j) - extend, H(i-1,j) - open)                   ends in a gap along the column
//   H(i,j) = max(0, H(i-1,j-1) + score(a_i,b_j), E(i,j), F(i,j))
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "workloads/alignment/scoring.hpp"

namespace heddle::workloads::alignment {

/// A score of the matrix. H, E and F fit where no alignment can score more than 2^31 - 2^23.
using Score = std::int32_t;

/// How blocks are computed. All give the same values, bit by bit.
enum class Path {
    plain,     ///< one cell after the other, in 32 bits; the fast paths fall back on it where 16 bits do not
               ///< hold
    portable,  ///< vectors of 128 bits, 8 or 16 a value, in what every compiler for every machine understands
    avx2,      ///< vectors of 256 bits, on x86-64 processors that have them
};

/// The numbers in vectors. Rows are computed in narrow ones as long as their values hold.
using Narrow = std::uint8_t;
using Wide = std::int16_t;

/// The fastest that this processor has.
Path fastest_path();
bool available(Path path);

/// The largest H and its place. Among equal ones the place is the least row, and in it the least column.
/// Where no H is above 0, score and place are 0.
struct Best {
    Score score = 0;
    std::size_t row = 0;
    std::size_t column = 0;

    friend bool operator==(const Best&, const Best&) = default;
};

/// Whether `a` goes before `b`: a larger score, or the same one and the lesser place. With places of one
/// matrix, and blocks put together in any order, this leaves what one block over everything would give.
bool better(const Best& a, const Best& b);

/// The letters of some columns, prepared for a path: what each letter of the alphabet scores against them, in
/// the order of the vectors (a query profile: Rognes and Seeberg, Bioinformatics 16, 2000; striped: Farrar,
/// Bioinformatics 23, 2007). Serves all the blocks below each other, from several threads at once.
class Columns {
public:
    /// `narrow`: whether 8-bit numbers may be used; without them it is slower, and the values are the same.
    /// Errors: a path that this processor does not have.
    Columns(const Scoring& scoring, std::span<const Letter> letters, Path path = fastest_path(),
            bool narrow = true);

    const Scoring& scoring() const { return scoring_; }
    std::span<const Letter> letters() const { return letters_; }
    std::size_t size() const { return letters_.size(); }
    Path path() const { return path_; }

    /// What letters score against the columns of a stripe. Its column r + k * vectors is number k of vector
    /// r; the last vectors' last numbers may be padding.
    template <class Number>
    struct Profile {
        std::size_t vectors = 0;
        struct alignas(64) Line {
            Number numbers[64 / sizeof(Number)];
        };
        std::vector<Line> lines;  ///< letter by letter, vector by vector

        const Number* scores() const { return lines.front().numbers; }
    };
    /// Some neighbouring columns that are computed together.
    struct Stripe {
        std::size_t first;  ///< its first column
        std::size_t width;  ///< how many it has

        /// Made when first asked for: often narrow numbers are all that is needed. Of two threads that make
        /// it at once, one throws its own away.
        template <class Number>
        struct Lazy {
            std::atomic<const Profile<Number>*> made{nullptr};
            ~Lazy() { delete made.load(); }
        };
        std::unique_ptr<std::tuple<Lazy<Narrow>, Lazy<Wide>>> profiles;
    };
    template <class Number>
    const Profile<Number>& profile(const Stripe& stripe) const;

    /// Whether narrow numbers may be used, and are of use with these scores and so many columns.
    bool narrow() const { return narrow_; }
    /// None where the scores do not fit into 16 bits, or the path is plain.
    std::span<const Stripe> stripes() const { return stripes_; }

private:
    template <class Number>
    Profile<Number> make_profile(const Stripe& stripe) const;

    Scoring scoring_;
    Letters letters_;
    Path path_;
    bool narrow_;
    std::vector<Stripe> stripes_;
};

/// The edges of a block, changed in place. Outside of the matrix they are 0; no H is negative, and no E or F
/// is above its H or below -2^30. E and F are not used where gaps are linear, and may be empty then.
struct Edges {
    Score corner = 0;        ///< H above and left of the block's first cell
    std::span<Score> row_h;  ///< a value a column: H of the row above; afterwards of the block's last row
    std::span<Score> row_f;  ///< F there
    std::span<Score>
        column_h;  ///< a value a row: H of the column to the left; afterwards of the block's last column
    std::span<Score> column_e;  ///< E there
};

/// Computes a block and returns its best score, with a place that counts from the block's first cell. The
/// next block to the right has as its corner what row_h.back() was before, the one below what column_h.back()
/// was. `rows` has a letter a row, less than columns.scoring().letters() each.
Best compute_block(std::span<const Letter> rows, const Columns& columns, const Edges& edges);

}  // namespace heddle::workloads::alignment
