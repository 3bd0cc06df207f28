// Tests tiles in 8-bit and 16-bit numbers: from any edges, they equal a computation cell by cell, and they
// stop before a number overflows.
#include "workloads/alignment/tile.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/alignment_testing.hpp"

namespace heddle::workloads::alignment {
namespace {

std::vector<Path> vector_paths() {
    std::vector<Path> result{Path::portable};
    if (available(Path::avx2)) result.push_back(Path::avx2);
    return result;
}

/// The values around a block, and a way to compute it.
struct Around {
    Score corner = 0;
    std::vector<Score> row_h, row_f, column_h, column_e;

    Around(std::size_t rows, std::size_t columns)
        : row_h(columns), row_f(columns), column_h(rows), column_e(rows) {}

    Edges edges() { return {corner, row_h, row_f, column_h, column_e}; }
    friend bool operator==(const Around&, const Around&) = default;
};

/// An H from 0 to `highest`, and an E or F that belongs to it.
void draw(Random& random, Score least, Score highest, Score& h, Score& gap) {
    h = least + static_cast<Score>(random.below(static_cast<std::uint64_t>(highest - least) + 1));
    switch (random.below(4)) {
        case 0:
            gap = h;
            break;
        case 1:
            gap = -(1 << 30);
            break;
        default:
            gap = h - static_cast<Score>(random.below(40));
            break;
    }
}

/// Edges of which most values are from `least` to `most`, and now and then one is up to `outlier`.
Around random_edges(Random& random, std::size_t rows, std::size_t columns, Score least, Score most,
                    Score outlier) {
    Around around(rows, columns);
    Score none = 0;
    const auto highest = [&] { return random.below(50) == 0 ? outlier : most; };
    draw(random, least, most, around.corner, none);
    for (std::size_t j = 0; j < columns; ++j)
        draw(random, least, highest(), around.row_h[j], around.row_f[j]);
    for (std::size_t i = 0; i < rows; ++i)
        draw(random, least, highest(), around.column_h[i], around.column_e[i]);
    return around;
}

/// One tile, and the same rows one cell after the other. Returns how many rows the tile computed.
template <class Number>
std::size_t expect_plain(const Scoring& scoring, const Letters& a, const Letters& b, const Around& before,
                         Path path) {
    const Columns columns(scoring, b, path);
    const Columns::Stripe& stripe = columns.stripes().front();
    EXPECT_EQ(columns.stripes().size(), 1u);
    Around tile = before;
    Rest rest{a, 0, tile.edges()};
    Best best;
    const bool some = compute_tile<Number>(rest, columns, stripe, best);
    const std::size_t rows = rest.row;
    EXPECT_EQ(some, rows > 0);
    EXPECT_EQ(rest.rows.size(), a.size() - rows);

    Around plain = before;
    Edges edges = plain.edges();
    edges.column_h = edges.column_h.first(rows);
    edges.column_e = edges.column_e.first(rows);
    const Best expected = compute_block(std::span(a).first(rows), Columns(scoring, b, Path::plain), edges);
    EXPECT_EQ(best, expected);
    EXPECT_EQ(tile.row_h, plain.row_h);
    EXPECT_EQ(tile.column_h, plain.column_h);
    EXPECT_EQ(rest.edges.corner, rows == 0 ? before.corner : before.column_h[rows - 1]);
    if (scoring.gaps().affine()) {
        EXPECT_EQ(tile.row_f, plain.row_f);
        EXPECT_EQ(tile.column_e, plain.column_e);
    }
    return rows;
}

/// Scores and gaps of all sizes that narrow numbers are used for, the largest ones as well.
Scoring narrow_scoring(Random& random) {
    while (true) {
        const bool large = random.below(3) == 0;
        const int extend = static_cast<int>(random.below(large ? 32 : 4));
        const int more = random.below(3) == 0 ? 0 : static_cast<int>(random.below(large ? 60 : 12));
        const Gaps gaps{extend + more, extend};
        if (random.below(4) == 0) return Scoring::blosum62(gaps.open < 20 ? gaps : Gaps{10, 1});
        const int match = 1 + static_cast<int>(random.below(large ? 63 : 5));
        const int mismatch = -static_cast<int>(random.below(large ? 63 : 6));
        const Scoring scoring = Scoring::match(Alphabet::dna, match, mismatch, gaps);
        if (holds<Narrow>(scoring)) return scoring;
    }
}

TEST(AlignmentTile, FromAnyEdgesTheRowsOfATileAreThoseOfOneCellAfterTheOther) {
    Random random(1);
    std::size_t narrow_rows = 0, narrow_ends = 0, wide_rows = 0;
    for (int round = 0; round < 6000 && !HasFailure(); ++round) {
        const Scoring scoring = narrow_scoring(random);
        const int letters = random.below(3) == 0 ? 2 : scoring.letters();
        const Letters b = random_letters(random, 1 + random.below(round % 4 == 0 ? 300 : 80), letters);
        Letters a = random.below(2) == 0 ? relative_of(random, b, letters, 0.1)
                                         : random_letters(random, 1 + random.below(100), letters);
        if (a.empty()) a = b;
        // Near what 8 bits hold, near what 16 do, and anywhere; the least value moves the base.
        const Score least = random.below(3) == 0 ? static_cast<Score>(random.below(2'000'000'000)) : 0;
        const Score most = least + static_cast<Score>(random.below(round % 2 == 0 ? 30 : 260));
        const Score outlier = most + static_cast<Score>(random.below(round % 3 == 0 ? 70000 : 60));
        const Around edges = random_edges(random, a.size(), b.size(), least, most, outlier);
        for (const Path path : vector_paths()) {
            SCOPED_TRACE(testing::Message() << "round " << round << ", path " << static_cast<int>(path));
            const std::size_t rows = expect_plain<Narrow>(scoring, a, b, edges, path);
            narrow_rows += rows;
            if (rows > 0 && rows < a.size()) ++narrow_ends;
            wide_rows += expect_plain<Wide>(scoring, a, b, edges, path);
        }
    }
    // The cases are of use: narrow rows were computed, some tiles ended early, and wide ones went further.
    EXPECT_GT(narrow_rows, 100'000u);
    EXPECT_GT(narrow_ends, 1000u);
    EXPECT_GT(wide_rows, 2 * narrow_rows);
}

/// What a tile is told of the best elsewhere, in the rows beside it: it keeps its own where that is better,
/// also where its own is in a row above and lower ones come after it.
TEST(AlignmentTile, KnowsABestFromElsewhereAndKeepsItsOwnBetterOne) {
    Random random(3);
    const Scoring scoring = Scoring::match(Alphabet::dna, 2, -1, {2, 2});
    for (int round = 0; round < 300 && !HasFailure(); ++round) {
        const Letters a = random_letters(random, 60, 2), b = random_letters(random, 40, 2);
        Around plain(a.size(), b.size());
        const Best own = compute_block(a, Columns(scoring, b, Path::plain), plain.edges());
        // An equal score in a row below, or a lower one there or above.
        const int lower = static_cast<int>(random.below(4));
        const std::size_t first = lower == 0 ? own.row + 1 : 0;
        if (first == a.size()) continue;
        const Best told{own.score - lower, first + random.below(a.size() - first), 1000};
        for (const Path path : vector_paths()) {
            Around edges(a.size(), b.size());
            const Columns columns(scoring, b, path);
            Rest rest{a, 0, edges.edges()};
            Best best = told;
            ASSERT_TRUE(compute_tile<Narrow>(rest, columns, columns.stripes().front(), best));
            ASSERT_EQ(rest.row, a.size());
            EXPECT_EQ(best, own) << "round " << round << ", told of " << told.score << " in row " << told.row;
        }
    }
}

/// Equal sequences score `match` more a row, so the last row of a tile can be told: it is the first one whose
/// score leaves less than a match below the largest number. The numbers below the least H are for E and F.
template <class Number>
void expect_rows(int match, int mismatch, Gaps gaps, Score corner) {
    const Scoring scoring = Scoring::match(Alphabet::dna, match, mismatch, gaps);
    Random random(2);
    const Letters a = random_letters(random, 400, 4);
    constexpr int numbers = std::numeric_limits<Number>::max() - std::numeric_limits<Number>::min();
    const int largest = numbers - match - std::max(gaps.open + gaps.extend, -mismatch);
    const int above = largest - corner;  // rows that are not above `largest`, and one
    const std::size_t expected =
        above < 0 ? 0 : std::min(a.size(), static_cast<std::size_t>(above / match) + 1);
    Around edges(a.size(), a.size());
    edges.corner = corner;
    for (const Path path : vector_paths())
        EXPECT_EQ(expect_plain<Number>(scoring, a, a, edges, path), expected) << "corner " << corner;
}

TEST(AlignmentTile, EndsAfterTheFirstRowWhoseScoreLeavesNoRoomForAMatch) {
    for (Score corner = 0; corner < 260; ++corner) {
        expect_rows<Narrow>(2, -9, {5, 1}, corner);
        expect_rows<Narrow>(1, -3, Gaps::linear(4), corner);
        expect_rows<Narrow>(31, -5, {30, 2}, corner);
    }
    for (Score corner = 60'000; corner < 65'600; corner += 7) {
        expect_rows<Wide>(100, -300, {150, 20}, corner);
        expect_rows<Wide>(3000, -300, Gaps::linear(400), corner);
    }
}

TEST(AlignmentTile, ALeftEdgeThatIsTooLargeEndsATileBeforeItsRow) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 2, -1, {5, 1});
    Random random(3);
    const Letters a = random_letters(random, 90, 4), b = random_letters(random, 70, 4);
    const Score largest = 255 - 2 - 6;
    for (std::size_t row = 0; row < a.size(); ++row) {
        for (const Score value : {largest, largest + 1, 40'000, 70'000}) {
            Around edges(a.size(), b.size());
            edges.column_h[row] = value;
            for (const Path path : vector_paths()) {
                const std::size_t rows = expect_plain<Narrow>(scoring, a, b, edges, path);
                // The value itself is outside of the tile; one match right of it is not.
                if (value > largest) {
                    EXPECT_EQ(rows, row);
                } else {
                    EXPECT_GE(rows, std::min(row + 2, a.size()));
                }
            }
        }
    }
}

TEST(AlignmentTile, NarrowNumbersAreUsedOnlyWhereScoresAndGapsLeaveRoom) {
    EXPECT_TRUE(holds<Narrow>(Scoring::match(Alphabet::dna, 2, -1, {5, 1})));
    EXPECT_TRUE(holds<Narrow>(Scoring::blosum62({10, 1})));
    EXPECT_TRUE(holds<Narrow>(Scoring::match(Alphabet::dna, 31, -32, {5, 1})));
    EXPECT_FALSE(holds<Narrow>(Scoring::match(Alphabet::dna, 32, -32, {5, 1})));
    EXPECT_FALSE(holds<Narrow>(Scoring::match(Alphabet::dna, 2, -1, {60, 2})));
    EXPECT_TRUE(holds<Wide>(Scoring::match(Alphabet::dna, 32, -32, {5, 1})));
    EXPECT_FALSE(holds<Wide>(Scoring::match(Alphabet::dna, 5000, -5000, {5, 1})));
}

}  // namespace
}  // namespace heddle::workloads::alignment
