// Tests that every way to compute a block of an alignment's matrix equals the textbook algorithm. All sizes
// of blocks and both kinds of gaps are tried.
#include "workloads/alignment/block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/alignment_testing.hpp"

namespace heddle::workloads::alignment {
namespace {

std::vector<Path> paths() {
    std::vector<Path> result{Path::plain, Path::portable};
    if (available(Path::avx2)) result.push_back(Path::avx2);
    return result;
}

void expect_equal(const Textbook& textbook, const Blocks& blocks, bool affine) {
    EXPECT_EQ(blocks.best, textbook.best);
    const std::size_t rows = blocks.column_h.size(), columns = blocks.row_h.size();
    const auto last_row = rows * textbook.columns;
    for (std::size_t j = 0; j < columns; ++j) {
        ASSERT_EQ(blocks.row_h[j], textbook.h[last_row + j + 1]) << "H of the last row, column " << j;
        if (!affine) continue;
        ASSERT_EQ(blocks.row_f[j], textbook.f[last_row + j + 1]) << "F of the last row, column " << j;
    }
    for (std::size_t i = 0; i < rows; ++i) {
        const auto last = (i + 1) * textbook.columns + columns;
        ASSERT_EQ(blocks.column_h[i], textbook.h[last]) << "H of the last column, row " << i;
        if (!affine) continue;
        ASSERT_EQ(blocks.column_e[i], textbook.e[last]) << "E of the last column, row " << i;
    }
}

void expect_textbook(const Scoring& scoring, const Letters& a, const Letters& b, std::size_t height,
                     std::size_t width) {
    const Textbook textbook(scoring, a, b);
    std::vector<std::pair<Path, bool>> ways;
    for (const Path path : paths())
        for (const bool narrow : {true, false}) ways.emplace_back(path, narrow);
    for (const auto& [path, narrow] : ways) {
        SCOPED_TRACE(testing::Message()
                     << "path " << static_cast<int>(path) << (narrow ? ", " : " without 8 bits, ") << a.size()
                     << " x " << b.size() << " in blocks of " << height << " x " << width << ", gaps "
                     << scoring.gaps().open << " and " << scoring.gaps().extend << ", letters "
                     << scoring.letters());
        const Blocks blocks(scoring, a, b, path, height, width, narrow);
        expect_equal(textbook, blocks, scoring.gaps().affine());
        if (testing::Test::HasFailure()) return;
    }
}

Scoring random_scoring(Random& random) {
    const int extend = static_cast<int>(random.below(4));
    const Gaps gaps = random.below(2) == 0 ? Gaps::linear(extend)
                                           : Gaps{extend + static_cast<int>(random.below(12)), extend};
    if (random.below(3) == 0) return Scoring::blosum62(gaps);
    const int match = 1 + static_cast<int>(random.below(5));
    const int mismatch = static_cast<int>(random.below(6)) - 5;
    return Scoring::match(Alphabet::dna, match, mismatch, gaps);
}

TEST(AlignmentBlock, EveryPathAndBlockingOfSmallCasesGivesTheTextbooksEdgesAndBest) {
    Random random(1);
    for (int round = 0; round < 3000 && !HasFailure(); ++round) {
        const Scoring scoring = random_scoring(random);
        const int letters = random.below(3) == 0 ? 2 : scoring.letters();
        const Letters a = random_letters(random, 1 + random.below(70), letters);
        Letters b = random_letters(random, 1 + random.below(70), letters);
        if (random.below(2) == 0) b = relative_of(random, a, letters, 0.2);
        if (b.empty()) continue;
        const std::size_t height = 1 + random.below(round % 3 == 0 ? 5 : 80);
        const std::size_t width = 1 + random.below(round % 3 == 1 ? 5 : 80);
        expect_textbook(scoring, a, b, height, width);
    }
}

// More than one tile each way, with long gaps across many vectors.
TEST(AlignmentBlock, BlocksOfSeveralTilesGiveTheTextbooksEdgesAndBest) {
    Random random(2);
    for (int round = 0; round < 24 && !HasFailure(); ++round) {
        const Scoring scoring = random_scoring(random);
        const Letters a =
            random_letters(random, 500 + random.below(round < 4 ? 2500 : 800), scoring.letters());
        const Letters b = round % 2 == 0
                              ? random_letters(random, 1 + random.below(1300), scoring.letters())
                              : relative_of(random, a, scoring.letters(), round % 4 == 1 ? 0.01 : 0.1);
        expect_textbook(scoring, a, b, round < 4 ? 3000 : 1 + random.below(1300), 1 + random.below(1300));
    }
}

// The only good path goes through the place where four tiles meet: two stripes, and rows of a tile, of which
// it has at most 1024.
TEST(AlignmentBlock, APathThroughTheCornersOfTilesIsNotLost) {
    Random random(8);
    const Letters a = random_letters(random, 3200, 4);
    for (const Path path : paths()) {
        if (path == Path::plain) continue;
        for (const Gaps gaps : {Gaps{30, 9}, Gaps::linear(30)}) {
            const Scoring scoring = Scoring::match(Alphabet::dna, 1, -9, gaps);
            const std::size_t size = 2112,
                              width = Columns(scoring, Letters(size), path).stripes().front().width;
            ASSERT_LT(width, size);
            const auto first = a.begin() + static_cast<std::ptrdiff_t>(2048 - width);
            expect_textbook(scoring, a, Letters(first, std::min(first + size, a.end())), a.size(), size);
        }
    }
}

// H stays so large over the whole row that a gap from the diagonal reaches every vector and every number.
TEST(AlignmentBlock, AGapThatSpansAWholeRowCrossesAllNumbersOfAVector) {
    Random random(3);
    for (const Gaps gaps : {Gaps{5, 0}, Gaps{10, 1}, Gaps::linear(0), Gaps::linear(1), Gaps{40, 1}}) {
        const Letters a = random_letters(random, 600, 4);
        Letters b = a;
        const Letters more = random_letters(random, 500, 4);
        b.insert(b.begin() + 300, more.begin(), more.end());
        expect_textbook(Scoring::match(Alphabet::dna, 9, -3, gaps), a, b, 600, 1100);
    }
}

TEST(AlignmentBlock, ScoresThatSixteenBitsDoNotHoldAreExact) {
    Random random(4);
    for (const int match : {40, 300, 3000, 20000, 1000000}) {
        const Letters a = random_letters(random, 1100, 4);
        const Letters b = relative_of(random, a, 4, 0.05);
        for (const Gaps gaps : {Gaps{2 * match, match / 2}, Gaps::linear(match / 3), Gaps{3, 1}}) {
            if (gaps.open > Scoring::score_max) continue;
            expect_textbook(Scoring::match(Alphabet::dna, match, -match / 2, gaps), a, b, 700, 900);
        }
    }
}

// The edges of a block deep inside a large matrix: near the largest score, and with little else in 16 bits.
TEST(AlignmentBlock, ALargeCornerMovesEveryResultByTheSameAmount) {
    Random random(5);
    const Scoring scoring = Scoring::match(Alphabet::dna, 2, -1, {5, 1});
    const Letters a = random_letters(random, 300, 4), b = relative_of(random, a, 4, 0.1);
    for (const Path path : paths()) {
        for (const Score high : {100'000, 2'000'000'000}) {
            std::vector<Score> row_h(b.size(), high), row_f(b.size(), high - 5);
            std::vector<Score> column_h(a.size(), high), column_e(a.size(), high - 5);
            std::vector<Score> plain_row_h = row_h, plain_row_f = row_f, plain_column_h = column_h,
                               plain_column_e = column_e;
            const Best best =
                compute_block(a, Columns(scoring, b, path), {high, row_h, row_f, column_h, column_e});
            const Best plain =
                compute_block(a, Columns(scoring, b, Path::plain),
                              {high, plain_row_h, plain_row_f, plain_column_h, plain_column_e});
            EXPECT_EQ(best, plain);
            EXPECT_GT(best.score, high + 300);
            EXPECT_EQ(row_h, plain_row_h);
            EXPECT_EQ(row_f, plain_row_f);
            EXPECT_EQ(column_h, plain_column_h);
            EXPECT_EQ(column_e, plain_column_e);
        }
    }
}

// A block with a 0 and, at its end, the corner and all matches: somewhere in between 16 bits no longer hold
// both.
TEST(AlignmentBlock, ABlockWhoseValuesAreFarApartIsExactWhereverSixteenBitsEnd) {
    Random random(7);
    const Scoring scoring = Scoring::match(Alphabet::dna, 100, -100, {150, 20});
    const Letters a = random_letters(random, 200, 4);
    for (const Path path : paths()) {
        for (Score corner = 10'000; corner < 70'000; corner += 250) {
            std::vector<Score> row_h(a.size(), 0), row_f(row_h), column_h(row_h), column_e(row_h);
            const Best best =
                compute_block(a, Columns(scoring, a, path), {corner, row_h, row_f, column_h, column_e});
            EXPECT_EQ(best, (Best{corner + 20'000, a.size() - 1, a.size() - 1}));
            EXPECT_EQ(row_h.back(), corner + 20'000);
            EXPECT_EQ(column_h[50], corner + 5'100 - 150 - 148 * 20);
        }
    }
}

TEST(AlignmentBlock, OfEqualScoresTheLeastRowAndThenTheLeastColumnIsTheBest) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 1, -1, Gaps::linear(1));
    const Letters a = encode(Alphabet::dna, "CCACCCTCC"), b = encode(Alphabet::dna, "GGTGGAGGA");
    for (const Path path : paths()) {
        for (std::size_t height = 1; height <= a.size(); ++height)
            for (std::size_t width = 1; width <= b.size(); ++width)
                EXPECT_EQ(Blocks(scoring, a, b, path, height, width).best, (Best{1, 2, 5}));
    }
}

// The best cells lie in different tiles of one block: the tile that is computed later has the lesser row, or
// the same one.
TEST(AlignmentBlock, OfEqualScoresInSeveralTilesTheLeastRowAndThenTheLeastColumnIsTheBest) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 1, -1, {3, 1});
    for (const auto& [words, best] : {std::pair{std::string("TTTTCAAAA"), Best{4, 8, 1203}},
                                      {std::string("AAAATTTT"), Best{4, 8, 103}},
                                      {std::string("CCCCAAAACCCCTTTT"), Best{4, 12, 103}},
                                      {std::string("CCCCTTTT"), Best{4, 12, 603}}}) {
        std::string b(1400, 'G');
        b.replace(100, 4, "AAAA");
        b.replace(600, 4, words.starts_with("CCCCTTTT") ? "TTTT" : "GGGG");
        b.replace(1200, 4, "TTTT");
        for (const std::size_t rows : {30u, 3000u}) {
            std::string a(rows, 'C');
            a.replace(5, words.size(), words);
            a.replace(rows - 5, 4, "AAAA");
            for (const Path path : paths()) {
                for (const std::size_t size : {200u, 700u, 5000u})
                    EXPECT_EQ(
                        Blocks(scoring, encode(Alphabet::dna, a), encode(Alphabet::dna, b), path, size, size)
                            .best,
                        best)
                        << words << " by path " << static_cast<int>(path) << " in blocks of " << size;
            }
        }
    }
}

TEST(AlignmentBlock, WithoutAMatchThereIsNoScoreAndNoPlace) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 1, -1, {2, 1});
    for (const Path path : paths())
        EXPECT_EQ(
            Blocks(scoring, encode(Alphabet::dna, "AANA"), encode(Alphabet::dna, "CNCCC"), path, 4, 5).best,
            Best{});
}

TEST(AlignmentBlock, AWrongCellWouldBeNoticed) {
    Random random(6);
    const Scoring scoring = Scoring::match(Alphabet::dna, 1, -1, {2, 1});
    const Letters a = random_letters(random, 20, 4), b = random_letters(random, 20, 4);
    const Textbook textbook(scoring, a, b);
    // The same letters but one, of which the largest H comes.
    Letters other = a;
    other[textbook.best.row] = static_cast<Letter>((other[textbook.best.row] + 1) % 4);
    EXPECT_NE(Blocks(scoring, other, b, fastest_path(), 7, 9).best, textbook.best);
}

}  // namespace
}  // namespace heddle::workloads::alignment
