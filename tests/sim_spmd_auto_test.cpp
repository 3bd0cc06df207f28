// Compares the algorithm that `auto` chooses for a collective call with each other algorithm, on few
// simulated nodes.
#include "tests/spmd_auto.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

TEST(SpmdAuto, IsNearTheBestInNearlyAllCells) {
    EXPECT_GE(part_near_best(cells({4, 7}, {1, 512, 32 << 10})), 0.95);
}

// Threads that share the copy of a segment are woken for it, and their leader after it. Prices that did not
// count that chose algorithms of many segments, which took much longer.
TEST(SpmdAuto, KnowsWhatItCostsToShareCopies) {
    std::vector<Cell> all = cells({4, 7}, {8 << 10, 32 << 10, 128 << 10}, 2);
    for (const Cell& cell : cells({4}, {32 << 10, 128 << 10}, 4)) all.push_back(cell);
    std::size_t near = 0;
    for (const Cell& cell : all) {
        const double loss = cell.loss();
        near += loss <= 1.1 ? 1 : 0;
        EXPECT_LE(loss, 1.25) << cell.text();
    }
    EXPECT_GE(static_cast<double>(near) / static_cast<double>(all.size()), 0.95);
}

// Lines are shared by all that crosses them, and a message has a fraction of what nodes of a cluster give it.
// Choices that knew of latencies only took up to six times as long.
TEST(SpmdAuto, KnowsLinesBetweenClusters) {
    std::vector<Cell> all;
    for (const Operation operation : {Operation::broadcast, Operation::reduce, Operation::all_reduce,
                                      Operation::reduce_scatter, Operation::all_gather})
        for (const Index count : {Index{4} << 10, Index{128} << 10})
            all.push_back({wide_area, operation, 24, has_blocks(operation) ? count / 24 : count});
    int near = 0;
    for (const Cell& cell : all) {
        const double loss = cell.loss();
        near += loss <= 1.1 ? 1 : 0;
        EXPECT_LE(loss, 1.25) << cell.text();
    }
    EXPECT_GE(near, 9) << "of " << all.size();
}

TEST(SpmdAuto, TakesNoLongerThanOperationsThatMakeTheSame) {
    for (const NodeId nodes : {3U, 8U})
        for (const Index count : {Index{1}, Index{512}, Index{16} << 10}) expect_guidelines(nodes, count);
}

}  // namespace
}  // namespace heddle::spmd
