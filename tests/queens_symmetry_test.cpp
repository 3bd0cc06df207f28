// Tests the n-queens search that takes one board of each eight that rotate or mirror into each other. With
// every use of symmetry the workload finds the numbers of OEIS A000170. With all symmetries it also finds
// those of A002562.
#include <gtest/gtest.h>

#include "tests/dsm_testing.hpp"
#include "workloads/queens_symmetry.hpp"
#include "workloads/workload.hpp"

namespace heddle::workloads {
namespace {

TEST(QueensSymmetry, TheLeastBoardsAreTheKnownSolutions) {
    for (int n = 0; n <= 12; ++n) {
        const ClassesFound found = search(LeastBoard::empty(n));
        EXPECT_EQ(static_cast<double>(found.solutions), known_queens.at(static_cast<std::size_t>(n))) << n;
        EXPECT_EQ(static_cast<double>(found.fundamental),
                  known_fundamental_queens.at(static_cast<std::size_t>(n)))
            << n;
        EXPECT_EQ(found.solutions, search(QueensBoard::empty(n)).solutions) << n;
    }
}

/// A quarter of a turn leaves the first of 4 queens' solutions as it is, so it counts twice.
TEST(QueensSymmetry, ASolutionCountsAsOftenAsItHasImages) {
    EXPECT_EQ(symmetries_of_least(QueensColumns{1, 3, 0, 2}, 4), 4U);
    EXPECT_EQ(symmetries_of_least(QueensColumns{2, 0, 3, 1}, 4), 0U);
    EXPECT_EQ(symmetries_of_least(QueensColumns{}, 1), 8U);
}

class DataflowQueens : public testing::TestWithParam<testing_dsm::World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, DataflowQueens, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(DataflowQueens, GiveTheSameAnswerWithEachSymmetry) {
    for (int n = 1; n <= 12; ++n) {
        for (const std::string symmetry : {"all", "mirror", "none"}) {
            const Kind& kind = find("dataflow_nqueens");
            Settings settings(kind.settings);
            settings.set("n", std::to_string(n));
            settings.set("depth", n % 2 == 0 ? "3" : "2");
            settings.set("symmetry", symmetry);
            const auto workload = kind.make(settings);
            const NodeId nodes = n == 6 || n == 9 ? 2 : 1;
            const auto result =
                GetParam().run(nodes, 2, {}, [&](NodeId node) { return workload->program(node); });
            const Verdict verdict = workload->check(result);
            EXPECT_EQ(verdict.kind, Verdict::Kind::right) << n << ", " << symmetry << ": " << verdict.reason;
        }
    }
}

}  // namespace
}  // namespace heddle::workloads
