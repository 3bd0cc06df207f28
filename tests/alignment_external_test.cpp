// Aligns real sequences and compares the scores with those that independent programs found, as listed beside
// the sequences.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "workloads/alignment/fasta.hpp"
#include "workloads/alignment/trace.hpp"

namespace heddle::workloads::alignment {
namespace {

namespace fs = std::filesystem;

class RealSequences : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(data_)) GTEST_SKIP() << data_ << " is absent";
    }

    Letters genome(const std::string& name) const {
        const auto records = read_fasta((data_ / name).string(), Alphabet::dna);
        EXPECT_EQ(records.size(), 1u);
        return encode(Alphabet::dna, records.at(0).letters);
    }

    /// The proteins of a file of BOTS, which begins with a line that is no FASTA.
    std::vector<Letters> proteins(const std::string& name) const {
        std::ifstream file(data_ / name, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        const std::string all = text.str();
        std::vector<Letters> result;
        for (const Sequence& record : parse_fasta(all.substr(all.find('>')), Alphabet::protein, name))
            result.push_back(encode(Alphabet::protein, record.letters));
        return result;
    }

    const fs::path data_ = fs::path(HEDDLE_SOURCE_DIR) / ".." / "shared" / "data" / "genome";
};

/// Aligns, and holds the transcript to the score.
Alignment checked(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b,
                  std::size_t block) {
    Alignment found = align(scoring, a, b, block);
    EXPECT_EQ(score_of(found.transcript, scoring, a.subspan(found.a_begin, found.a_end - found.a_begin),
                       b.subspan(found.b_begin, found.b_end - found.b_begin)),
              found.score);
    return found;
}

TEST_F(RealSequences, TwoStrainsOfHelicobacterScoreWhatIsKnown) {
    const Letters a = genome("H_pylori26695_Bslice.fasta"), b = genome("H_pyloriJ99_Bslice.fasta");
    const Scoring unit = Scoring::match(Alphabet::dna, 1, -1, Gaps::linear(1));
    for (const auto& [size, score] : {std::pair{2000u, 1692}, {6000u, 4655}}) {
        for (const std::size_t block : {100u, 512u, 10000u}) {
            const Alignment found = checked(unit, std::span(a).first(size), std::span(b).first(size), block);
            EXPECT_EQ(found.score, score) << size << " in blocks of " << block;
            EXPECT_GT(found.identity(), 0.85);
        }
    }
}

TEST_F(RealSequences, TheWholeSlicesScoreWhatIsKnown) {
    const Letters a = genome("H_pylori26695_Bslice.fasta"), b = genome("H_pyloriJ99_Bslice.fasta");
    EXPECT_EQ(a.size(), 69860u);
    const Scoring scoring = Scoring::match(Alphabet::dna, 2, -1, Gaps::linear(2));
    EXPECT_EQ(checked(scoring, a, b, 2048).score, 108393);
}

// The costs of gaps in the table are of this form: a gap of k letters costs 10 + (k - 1).
TEST_F(RealSequences, AllPairsOfTwentyProteinsScoreWhatTheTableSays) {
    const auto all = proteins("prot.20.aa");
    ASSERT_EQ(all.size(), 20u);
    std::ifstream table(data_ / "prot.20.aa.pairwise_blosum62_10_1.csv");
    std::string line;
    std::getline(table, line);
    const Scoring scoring = Scoring::blosum62({10, 1});
    std::int64_t sum = 0;
    int pairs = 0;
    while (std::getline(table, line)) {
        std::size_t i = 0, j = 0, a_size = 0, b_size = 0;
        std::int64_t score = 0;
        char comma = 0;
        std::istringstream(line) >> i >> comma >> j >> comma >> a_size >> comma >> b_size >> comma >> score;
        EXPECT_EQ(all.at(i).size(), a_size);
        EXPECT_EQ(all.at(j).size(), b_size);
        for (const std::size_t block : {64u, 1024u}) {
            const Alignment found = checked(scoring, all.at(i), all.at(j), block);
            EXPECT_EQ(found.score, score) << "proteins " << i << " and " << j << " in blocks of " << block;
        }
        sum += score;
        ++pairs;
    }
    EXPECT_EQ(pairs, 190);
    EXPECT_EQ(sum, 9011);
}

TEST_F(RealSequences, AllPairsOfAHundredProteinsHaveTheKnownSum) {
    const auto all = proteins("prot.100.aa");
    ASSERT_EQ(all.size(), 100u);
    const Scoring scoring = Scoring::blosum62({10, 1});
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < all.size(); ++j) {
        const Columns columns(scoring, all[j]);
        for (std::size_t i = 0; i < j; ++i) {
            std::vector<Score> row_h(all[j].size()), row_f(row_h), column_h(all[i].size()),
                column_e(column_h);
            sum += compute_block(all[i], columns, {0, row_h, row_f, column_h, column_e}).score;
        }
    }
    EXPECT_EQ(sum, 232359);
}

}  // namespace
}  // namespace heddle::workloads::alignment
