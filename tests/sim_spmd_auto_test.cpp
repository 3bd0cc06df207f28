// Compares the algorithm that `auto` chooses for a collective call with each other algorithm, on few
// simulated nodes.
#include "tests/spmd_auto.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

TEST(SpmdAuto, IsNearTheBestInNearlyAllCells) {
    EXPECT_GE(part_near_best(cells({4, 7}, {1, 512, 32 << 10})), 0.95);
}

TEST(SpmdAuto, TakesNoLongerThanOperationsThatMakeTheSame) {
    for (const NodeId nodes : {3U, 8U})
        for (const Index count : {Index{1}, Index{512}, Index{16} << 10}) expect_guidelines(nodes, count);
}

}  // namespace
}  // namespace heddle::spmd
