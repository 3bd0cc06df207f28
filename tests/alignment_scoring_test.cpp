// Tests that BLOSUM62 is the published matrix, that letters have their documented meaning, and that FASTA is
// read or refused with its line.
#include "workloads/alignment/scoring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "workloads/alignment/fasta.hpp"

namespace heddle::workloads::alignment {
namespace {

using testing::HasSubstr;

int blosum(char a, char b) {
    static const Scoring scoring = Scoring::blosum62({11, 1});
    return scoring.of(static_cast<Letter>(letter_of(Alphabet::protein, a)),
                      static_cast<Letter>(letter_of(Alphabet::protein, b)));
}

constexpr std::string_view amino_acids = "ARNDCQEGHILKMFPSTWYV";

TEST(Blosum62, IsSymmetricAndALetterScoresMostWithItself) {
    for (const char a : letters_of(Alphabet::protein)) {
        for (const char b : letters_of(Alphabet::protein)) {
            EXPECT_EQ(blosum(a, b), blosum(b, a)) << a << b;
            if (a == b || a == 'X') continue;
            EXPECT_LE(blosum(a, b), blosum(a, a)) << a << b;
        }
    }
}

TEST(Blosum62, HasTheScoresThatEverybodyQuotes) {
    const std::map<char, int> diagonal{{'A', 4}, {'R', 5}, {'N', 6}, {'D', 6},  {'C', 9}, {'Q', 5}, {'E', 5},
                                       {'G', 6}, {'H', 8}, {'I', 4}, {'L', 4},  {'K', 5}, {'M', 5}, {'F', 6},
                                       {'P', 7}, {'S', 4}, {'T', 5}, {'W', 11}, {'Y', 7}, {'V', 4}};
    for (const auto& [letter, score] : diagonal) EXPECT_EQ(blosum(letter, letter), score) << letter;
    EXPECT_EQ(blosum('I', 'V'), 3);
    EXPECT_EQ(blosum('F', 'Y'), 3);
    EXPECT_EQ(blosum('D', 'E'), 2);
    EXPECT_EQ(blosum('K', 'R'), 2);
    EXPECT_EQ(blosum('W', 'Y'), 2);
    EXPECT_EQ(blosum('C', 'E'), -4);
    EXPECT_EQ(blosum('W', 'P'), -4);
    EXPECT_EQ(blosum('B', 'D'), 4);
    EXPECT_EQ(blosum('Z', 'E'), 4);
    EXPECT_EQ(blosum('X', 'X'), -1);
    for (const char letter : amino_acids) EXPECT_EQ(blosum('*', letter), -4);
    EXPECT_EQ(blosum('*', '*'), 1);
    EXPECT_EQ(Scoring::blosum62({11, 1}).least(), -4);
    EXPECT_EQ(Scoring::blosum62({11, 1}).most(), 11);
}

// Altschul and Gish (Methods in Enzymology 266, 1996) and every output of BLAST: without gaps lambda is
// 0.3176 and the relative entropy 0.4012 nats, with the amino acid frequencies of Robinson and Robinson (PNAS
// 88, 1991).
TEST(Blosum62, HasTheLambdaAndTheEntropyThatBlastPrints) {
    const std::map<char, double> frequencies{{'A', .07805}, {'C', .01925}, {'D', .05364}, {'E', .06295},
                                             {'F', .03856}, {'G', .07377}, {'H', .02199}, {'I', .05142},
                                             {'K', .05744}, {'L', .09019}, {'M', .02243}, {'N', .04487},
                                             {'P', .05203}, {'Q', .04264}, {'R', .05129}, {'S', .07120},
                                             {'T', .05841}, {'V', .06441}, {'W', .01330}, {'Y', .03216}};
    const auto sum = [&](auto term) {
        double total = 0;
        for (const auto& [a, p] : frequencies)
            for (const auto& [b, q] : frequencies) total += p * q * term(blosum(a, b));
        return total;
    };
    double low = 0.1, high = 1;
    while (high - low > 1e-9) {
        const double middle = (low + high) / 2;
        (sum([&](int score) { return std::exp(middle * score); }) > 1 ? high : low) = middle;
    }
    EXPECT_NEAR(low, 0.3176, 0.00006);
    EXPECT_NEAR(low * sum([&](int score) { return score * std::exp(low * score); }), 0.4012, 0.0002);
}

TEST(AlignmentScoring, UncertainLettersMatchNothing) {
    const Scoring dna = Scoring::match(Alphabet::dna, 2, -3, Gaps::linear(1));
    const Letters letters = encode(Alphabet::dna, "acgtnUR");
    EXPECT_EQ(decode(Alphabet::dna, letters), "ACGTNTN");
    EXPECT_EQ(dna.of(letters[0], letters[0]), 2);
    EXPECT_EQ(dna.of(letters[0], letters[1]), -3);
    EXPECT_EQ(dna.of(letters[4], letters[4]), -3);
    EXPECT_EQ(decode(Alphabet::protein, encode(Alphabet::protein, "uojx*")), "CKXX*");
}

TEST(AlignmentScoring, NumbersThatMakeNoSenseAreRefused) {
    EXPECT_THROW(Scoring::blosum62({1, 2}), Error);
    EXPECT_THROW(Scoring::blosum62({1, -1}), Error);
    EXPECT_THROW(Scoring::blosum62(Gaps::linear(2'000'000)), Error);
    EXPECT_THROW(Scoring::match(Alphabet::dna, 0, -1, {2, 1}), Error);
    EXPECT_THROW(Scoring::match(Alphabet::dna, 1, 2, {2, 1}), Error);
    EXPECT_THROW(Scoring::match(Alphabet::dna, 1, -2'000'000, {2, 1}), Error);
    EXPECT_THROW(encode(Alphabet::dna, "ACGE"), Error);
    EXPECT_THROW(encode(Alphabet::protein, "AC-"), Error);
}

TEST(Fasta, ReadsRecordsWhateverTheirLinesLookLike) {
    const auto records = parse_fasta(
        "\r\n; made by hand\r\n>one the first\r\nACgt nn\r\n\r\nAC\r\n> two\nacgu\n>\nR", Alphabet::dna);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].name, "one");
    EXPECT_EQ(records[0].letters, "ACGTNNAC");
    EXPECT_EQ(records[1].name, "two");
    EXPECT_EQ(records[1].letters, "ACGU");
    EXPECT_EQ(records[2].name, "");
    EXPECT_EQ(records[2].letters, "R");
}

TEST(Fasta, LeavesOutTheStarThatEndsAProtein) {
    const auto records = parse_fasta(">a\nMKV*\n>b\nM*K\n>c\nMXB*\n", Alphabet::protein);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].letters, "MKV");
    EXPECT_EQ(records[1].letters, "M*K");
    EXPECT_EQ(records[2].letters, "MXB");
}

std::string error_of(const std::string& text, Alphabet alphabet = Alphabet::dna) {
    try {
        parse_fasta(text, alphabet, "in.fa");
    } catch (const Error& error) {
        EXPECT_FALSE(error.advice().empty());
        return error.what();
    }
    return "no error";
}

TEST(Fasta, RefusesWhatIsNotFastaWithItsLine) {
    EXPECT_THAT(error_of(""), HasSubstr("in.fa: no sequence in the file"));
    EXPECT_THAT(error_of("\n; only a comment\n"), HasSubstr("in.fa: no sequence in the file"));
    EXPECT_THAT(error_of("\nACGT\n>a\nACGT\n"), HasSubstr("in.fa:2: text before the first '>'"));
    EXPECT_THAT(error_of(">a\nACGT\nACET\n"), HasSubstr("in.fa:3: 'E' is no letter of DNA"));
    EXPECT_THAT(error_of(">a\nAC-T\n"), HasSubstr("in.fa:2: '-' is no letter of DNA"));
    EXPECT_THAT(error_of(">a\nAC*\n"), HasSubstr("'*' is no letter of DNA"));
    EXPECT_THAT(error_of(">a\nMK\n>b\nM1\n", Alphabet::protein),
                HasSubstr("in.fa:4: '1' is no letter of a protein"));
    EXPECT_THAT(error_of(">a\n\n>b\nACGT\n"), HasSubstr("in.fa:1: sequence 'a' has no letters"));
    EXPECT_THAT(error_of(">a\nACGT\n>b\n"), HasSubstr("in.fa:3: sequence 'b' has no letters"));
    EXPECT_THAT(error_of(">a\n*\n", Alphabet::protein), HasSubstr("in.fa:1: sequence 'a' has no letters"));
}

TEST(Fasta, ReadsAFileAndNamesOneThatItCannotRead) {
    const auto path = std::filesystem::temp_directory_path() / ("heddle_fasta_" + std::to_string(getpid()));
    std::ofstream(path) << ">x y\nACGT\n";
    const auto records = read_fasta(path.string(), Alphabet::dna);
    std::filesystem::remove(path);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].letters, "ACGT");
    for (const std::string& wrong : {path.string(), std::filesystem::temp_directory_path().string()}) {
        try {
            read_fasta(wrong, Alphabet::dna);
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr(wrong + ": cannot be read ("),
                                                     HasSubstr(wrong + ": is a directory")));
        }
    }
}

}  // namespace
}  // namespace heddle::workloads::alignment
