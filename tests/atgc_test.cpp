// Runs ATGC (genome comparison) with many sizes of blocks, natively and in simulation. Score and place are
// those of a plain computation of the whole matrix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/memory_need.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/native_backend.hpp"
#include "workloads/alignment/scoring.hpp"
#include "workloads/atgc.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

using namespace workloads;
using Stated = std::vector<std::pair<std::string, std::string>>;

Settings settings_with(const Stated& stated) {
    Settings settings(workloads::find("atgc").settings);
    for (const auto& [key, value] : stated) settings.set(key, value);
    return settings;
}

runtime::RunResult run(runtime::Backend& backend, const Settings& settings, std::uint64_t seed) {
    const auto workload = workloads::find("atgc").make(settings);
    runtime::Schedule schedule;
    schedule.seed = seed;
    runtime::Execution execution(backend, schedule, [&](NodeId id) { return workload->program(id); });
    const auto result = execution.run();
    const auto verdict = workload->check(result);
    EXPECT_NE(verdict.kind, Verdict::Kind::wrong) << verdict.reason;
    return result;
}

/// The best score by the textbook, row by row (Gotoh 1982): knows nothing of blocks or vectors.
std::int64_t textbook(const AtgcProblem& problem) {
    const auto& a = problem.a.front();
    const auto& b = problem.b;
    const auto gaps = problem.scoring.gaps();
    constexpr std::int64_t low = -1'000'000'000;
    std::vector<std::int64_t> h(b.size() + 1, 0), f(b.size() + 1, low);
    std::int64_t best = 0;
    for (const auto letter : a) {
        std::int64_t diagonal = 0, e = low;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            e = std::max(e - gaps.extend, h[j - 1] - gaps.open);
            f[j] = std::max(f[j] - gaps.extend, h[j] - gaps.open);
            const std::int64_t here =
                std::max({std::int64_t{0}, diagonal + problem.scoring.of(letter, b[j - 1]), e, f[j]});
            diagonal = std::exchange(h[j], here);
            best = std::max(best, here);
        }
    }
    return best;
}

TEST(Atgc, TheWaveFindsWhatTheTextbookFindsForAllBlocksAndSeeds) {
    const Stated scorings[] = {
        {{"gap_open", "1"}},
        {{"match", "3"}, {"mismatch", "2"}, {"gap_open", "5"}, {"gap_extend", "1"}},
        {{"alphabet", "protein"}, {"matrix", "blosum62"}, {"gap_open", "10"}, {"gap_extend", "1"}},
    };
    const char* blocks[][2] = {{"1000", "1000"}, {"64", "48"}, {"7", "300"}, {"300", "11"}};
    for (const auto& scoring : scorings) {
        for (const auto& [rows, columns] : blocks) {
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                Stated stated = scoring;
                stated.insert(stated.end(), {{"length", "300"},
                                             {"seed", std::to_string(seed)},
                                             {"check", "none"},
                                             {"block_rows", rows},
                                             {"block_columns", columns}});
                const Settings settings = settings_with(stated);
                inprocess::InprocessBackend backend({3, 2, seed});
                const auto result = run(backend, settings, seed);
                ASSERT_EQ(result.answer.at(0).value,
                          static_cast<double>(textbook(AtgcProblem::read(settings))))
                    << rows << " x " << columns << ", seed " << seed;
            }
        }
    }
}

TEST(Atgc, FourRealWorkersFindTheSame) {
    for (int round = 0; round < 20; ++round) {
        native::NativeOptions options;
        options.cores = 4;
        native::NativeBackend backend(options);
        run(backend, settings_with({{"length", "600"}, {"block_rows", "50"}, {"block_columns", "60"}}), 1);
    }
}

// The shortest sequences may lose all their letters in the copy.
TEST(Atgc, TheShortestRandomSequencesAreComparedToo) {
    for (const char* const length : {"1", "2"}) {
        for (std::uint64_t seed = 1; seed <= 60; ++seed) {
            const Settings settings = settings_with({{"length", length}, {"seed", std::to_string(seed)}});
            inprocess::InprocessBackend backend({2, 1, seed});
            const auto result = run(backend, settings, seed);
            ASSERT_EQ(result.answer.at(0).name, "score") << length << ", seed " << seed;
            ASSERT_EQ(result.answer.at(0).value, static_cast<double>(textbook(AtgcProblem::read(settings))))
                << length << ", seed " << seed;
        }
    }
}

// --- files

class AtgcFiles : public testing::Test {
protected:
    AtgcFiles() { std::filesystem::create_directories(folder_); }
    ~AtgcFiles() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) const {
        const auto path = folder_ / name;
        std::ofstream(path) << text;
        return path.string();
    }
    std::string error_of(const Stated& stated) const {
        try {
            workloads::find("atgc").make(settings_with(stated));
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

private:
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("heddle-atgc-" + std::to_string(::getpid()));
};

TEST_F(AtgcFiles, AlignmentIsWritten) {
    const auto a = file("a.fa", ">one\nTTTACGTACGTTT\n"), b = file("b.fa", ">two\nGGGACGTCGTGGG\n");
    const auto output = file("alignment", "");
    inprocess::InprocessBackend backend({1, 1, 1});
    run(backend, settings_with({{"a", a}, {"b", b}, {"output", output}, {"match", "2"}}), 1);
    std::ifstream written(output);
    const std::string text((std::istreambuf_iterator<char>(written)), {});
    // ACGTACGT against ACGT-CGT: seven pairs and a gap.
    EXPECT_THAT(text, testing::StartsWith("score 13\na 4-11\nb 4-10\n"));
    EXPECT_THAT(text, testing::HasSubstr("gaps 1 of 1 letters"));
}

TEST_F(AtgcFiles, AllPairsOfAFileAreCompared) {
    const auto set = file("set.fa", ">a\nACGT\n>b\nACG\n>c\nTTTT\n");
    inprocess::InprocessBackend backend({2, 2, 1});
    const auto result = run(backend, settings_with({{"a", set}}), 1);
    EXPECT_EQ(result.answer.at(0).value, 3);
    EXPECT_EQ(result.answer.at(1).value, 3 + 1 + 0);
}

TEST_F(AtgcFiles, AnAlignmentThatDoesNotFitIsRefused) {
    const Stated linear{{"length", "100000"}, {"output", "x"}};  // edges of about 8 e10 / 1024 bytes
    Stated affine = linear;
    affine.insert(affine.end(), {{"gap_open", "5"}, {"gap_extend", "1"}});
    set_available_memory(1e8);
    const std::string of_linear = error_of(linear), of_affine = error_of(affine);
    const std::string without = error_of({{"length", "100000"}, {"gap_open", "5"}, {"gap_extend", "1"}});
    set_available_memory(std::numeric_limits<double>::infinity());
    EXPECT_EQ(of_linear, "");
    EXPECT_THAT(of_affine, testing::AllOf(testing::HasSubstr("the alignment of 100000"),
                                          testing::HasSubstr("leave workload.output out")));
    EXPECT_EQ(without, "");
}

TEST_F(AtgcFiles, WrongSettingsSayWhatIsWrong) {
    const auto one = file("one.fa", ">a\nACGT\n"), broken = file("broken.fa", ">a\nAC\nA1\n");
    EXPECT_THAT(error_of({{"a", one}}), testing::HasSubstr("one sequence has no pair"));
    EXPECT_THAT(error_of({{"b", one}}), testing::HasSubstr("b is stated and a is not"));
    EXPECT_THAT(error_of({{"a", broken}, {"b", one}}), testing::HasSubstr("broken.fa:3"));
    EXPECT_THAT(error_of({{"a", "/no/such/file"}, {"b", one}}), testing::HasSubstr("/no/such/file"));
    EXPECT_THAT(error_of({{"matrix", "blosum62"}}), testing::HasSubstr("the alphabet is dna"));
    EXPECT_THAT(error_of({{"gap_open", "1"}, {"gap_extend", "2"}}), testing::Not(testing::IsEmpty()));
    EXPECT_THAT(error_of({{"a", file("set.fa", ">a\nAC\n>b\nAC\n")}, {"output", "x"}}),
                testing::HasSubstr("these are pairs"));
}

}  // namespace
}  // namespace heddle
