// Compares the algorithm that `auto` chooses for a collective call with each other algorithm, in 420
// simulated cells.
#include "tests/spmd_auto.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

TEST(SpmdAutoOfManyCells, IsNearTheBestInNearlyAll) {
    const std::vector<Cell> all = cells({3, 8, 16, 33}, {1, 64, 1024, 8192, 64 << 10});
    EXPECT_GE(all.size(), 300U);
    EXPECT_GE(part_near_best(all), 0.95);
}

TEST(SpmdAutoOfManyCells, TakesNoLongerThanOperationsThatMakeTheSame) {
    for (const NodeId nodes : {3U, 8U, 16U, 33U})
        for (const Index count : {Index{1}, Index{64}, Index{1024}, Index{16} << 10})
            expect_guidelines(nodes, count);
}

}  // namespace
}  // namespace heddle::spmd
