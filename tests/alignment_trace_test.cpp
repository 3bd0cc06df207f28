// Tests alignments: the transcript has the score that is reported, that score is the best, and the size of
// blocks does not matter.
#include "workloads/alignment/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/alignment_testing.hpp"

namespace heddle::workloads::alignment {
namespace {

std::int64_t rescored(const Alignment& found, const Scoring& scoring, const Letters& a, const Letters& b) {
    return score_of(found.transcript, scoring,
                    std::span(a).subspan(found.a_begin, found.a_end - found.a_begin),
                    std::span(b).subspan(found.b_begin, found.b_end - found.b_begin));
}

TEST(AlignmentTrace, TheTranscriptScoresTheTextbooksBestForEveryBlocking) {
    Random random(1);
    for (int round = 0; round < 1500 && !HasFailure(); ++round) {
        const int extend = static_cast<int>(random.below(4));
        const Gaps gaps =
            round % 2 == 0 ? Gaps::linear(extend) : Gaps{extend + static_cast<int>(random.below(9)), extend};
        const Scoring scoring =
            round % 3 == 0 ? Scoring::blosum62(gaps)
                           : Scoring::match(Alphabet::dna, 3, -static_cast<int>(random.below(5)), gaps);
        const Letters a = random_letters(random, 1 + random.below(90), scoring.letters());
        const Letters b = round % 5 == 0 ? random_letters(random, 1 + random.below(90), scoring.letters())
                                         : relative_of(random, a, scoring.letters(), 0.2);
        const Textbook textbook(scoring, a, b);
        const Alignment whole = align(scoring, a, b, 1000);
        SCOPED_TRACE(testing::Message() << "round " << round << " " << cigar(whole.transcript));
        EXPECT_EQ(whole.score, textbook.best.score);
        EXPECT_EQ(rescored(whole, scoring, a, b), whole.score);
        if (whole.score > 0) {
            EXPECT_EQ(whole.a_end, textbook.best.row + 1);
            EXPECT_EQ(whole.b_end, textbook.best.column + 1);
        }
        for (const std::size_t block : {std::size_t{1}, 2 + random.below(6), 8 + random.below(60)}) {
            const Alignment in_blocks =
                align(scoring, a, b, block, round % 7 == 0 ? Path::plain : fastest_path());
            EXPECT_EQ(in_blocks.transcript, whole.transcript) << "blocks of " << block;
            EXPECT_EQ(in_blocks.a_begin, whole.a_begin);
            EXPECT_EQ(in_blocks.b_begin, whole.b_begin);
        }
    }
}

TEST(AlignmentTrace, ASmallAlignmentReadsAsByHand) {
    // GATTA-CAGGCCACGT
    // GATTAACAGG--ACGT
    const Letters a = encode(Alphabet::dna, "TTTGATTACAGGCCACGT"),
                  b = encode(Alphabet::dna, "GATTAACAGGACGTA");
    const Scoring scoring = Scoring::match(Alphabet::dna, 3, -4, {4, 1});
    const Alignment found = align(scoring, a, b);
    EXPECT_EQ(found.a_begin, 3u);
    EXPECT_EQ(found.a_end, 18u);
    EXPECT_EQ(found.b_begin, 0u);
    EXPECT_EQ(found.b_end, 14u);
    EXPECT_EQ(found.matches(), 13u);
    EXPECT_EQ(found.gaps(), 2u);
    EXPECT_EQ(found.gap_letters(), 3u);
    EXPECT_EQ(found.score, 13 * 3 - 4 - 4 - 1);
    EXPECT_DOUBLE_EQ(found.identity(), 13.0 / 16.0);
    EXPECT_THAT(cigar(found.transcript), testing::MatchesRegex("[45]=1D[45]=2I4="));
}

TEST(AlignmentTrace, NothingAlignsWhereNothingMatches) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 1, -1, Gaps::linear(1));
    const Alignment found = align(scoring, encode(Alphabet::dna, "AAA"), encode(Alphabet::dna, "CCNN"));
    EXPECT_EQ(found.score, 0);
    EXPECT_TRUE(found.transcript.empty());
    EXPECT_EQ(found.identity(), 0.0);
    EXPECT_EQ(align(scoring, {}, encode(Alphabet::dna, "A")).score, 0);
    EXPECT_THROW(align(scoring, encode(Alphabet::dna, "A"), encode(Alphabet::dna, "A"), 0), Error);
}

TEST(AlignmentTranscript, AGapCostsItsOpeningOnceAndAnExtensionForEachFurtherLetter) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 5, -3, {10, 1});
    const Letters a = encode(Alphabet::dna, "ACGT"), b = encode(Alphabet::dna, "ATTTCG");
    EXPECT_EQ(score_of({{'=', 1}, {'D', 3}, {'=', 2}, {'I', 1}}, scoring, a, b), 5 - 12 + 10 - 10);
    EXPECT_EQ(score_of({{'=', 1}, {'D', 1}, {'D', 2}, {'=', 2}, {'I', 1}}, scoring, a, b), 5 - 12 + 10 - 10);
    EXPECT_EQ(score_of({{'=', 1}, {'X', 2}, {'=', 1}, {'D', 2}}, scoring, a, b), 5 - 6 + 5 - 11);
}

TEST(AlignmentTranscript, OneThatDoesNotFitIsRefused) {
    const Scoring scoring = Scoring::match(Alphabet::dna, 5, -3, {10, 1});
    const Letters a = encode(Alphabet::dna, "ACGT"), b = encode(Alphabet::dna, "ACGA");
    EXPECT_EQ(score_of({{'=', 3}, {'X', 1}}, scoring, a, b), 12);
    for (const Transcript& wrong : {Transcript{{'=', 4}},
                                    {{'=', 3}},
                                    {{'=', 3}, {'X', 2}},
                                    {{'=', 2}, {'X', 2}},
                                    {{'=', 3}, {'X', 1}, {'I', 1}},
                                    {{'M', 4}},
                                    {}})
        EXPECT_THROW(score_of(wrong, scoring, a, b), Error) << cigar(wrong);
}

}  // namespace
}  // namespace heddle::workloads::alignment
