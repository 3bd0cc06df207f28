// Tests the estimated search of the n-queens problem against the search itself, and against published sizes
// of its tree.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/queens.hpp"

namespace heddle {
namespace {

using testing_placement::Ran;
using testing_placement::Stated;
using workloads::estimate_placements;
using workloads::QueensBoard;

// Knuth's example is the board of 8, whose tree has 2057 nodes ("Estimating the efficiency of backtrack
// programs", 1975, section 2).
TEST(QueensEstimate, IsTheSearchsExpectation) {
    EXPECT_EQ(search(QueensBoard::empty(8)).placements, 2057U);
    for (int n = 1; n <= 14; ++n) {
        const QueensBoard board = QueensBoard::empty(n);
        const auto searched = static_cast<double>(search(board).placements);
        EXPECT_NEAR(estimate_placements(board, 100'000, Random(5)) / searched, 1, 0.01) << n;
    }
}

TEST(QueensEstimate, OfManySubtreesNeedsFewDescents) {
    const auto placements = [](const char* subtrees) {
        inprocess::InprocessBackend backend({2, 2, 1});
        const Ran ran = testing_placement::run(
            backend,
            {"dataflow_nqueens",
             {{"n", "12"}, {"depth", "4"}, {"symmetry", "none"}, {"subtrees", subtrees}, {"descents", "10"}}},
            testing_placement::cluster(2, 2), {});
        const bool estimates = std::string(subtrees) == "estimate";
        EXPECT_EQ(ran.verdict.kind,
                  estimates ? workloads::Verdict::Kind::unchecked : workloads::Verdict::Kind::right);
        return ran.answer("placements");
    };
    EXPECT_EQ(placements("run"), 856'189);
    EXPECT_NEAR(placements("estimate") / 856'189, 1, 0.01);
}

TEST(QueensEstimate, IsRefusedWhereImagesAreLeftOut) {
    const Stated stated{"dataflow_nqueens", {{"subtrees", "estimate"}}};  // symmetry: all
    EXPECT_THROW((void)stated.make(), Error);
}

}  // namespace
}  // namespace heddle
