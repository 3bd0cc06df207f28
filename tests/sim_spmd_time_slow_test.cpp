// Compares simulated collective calls on a thousand nodes with the closed forms of sim_spmd_time_test.cpp.
#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

class SpmdTimeOfThousand : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdTimeOfThousand, testing::ValuesIn(all_algorithms()),
                         [](const auto& tested) {
                             return name_of(tested.param.operation) + ("_" + tested.param.name);
                         });

TEST_P(SpmdTimeOfThousand, IsThatOfTheClosedForm) {
    const Algorithm& algorithm = GetParam();
    // If ranks are no power of two, some skip a round of `pairwise` and get ahead. Then messages of two
    // rounds share links, and 1000 ranks take 1.66 times as long.
    const RankId ranks = algorithm.name == "pairwise" ? 1024 : 1000;
    if (algorithm.operation == Operation::barrier) GTEST_SKIP() << "it has no bytes; its latencies: below";
    if (algorithm.levels > 1) GTEST_SKIP() << "without groups it is another one";
    const bool in_blocks = algorithm.operation >= Operation::gather ||
                           algorithm.operation == Operation::reduce_scatter ||
                           algorithm.name == "rabenseifner";
    expect_closed_form(algorithm, ranks, in_blocks ? 256 : 16 << 10, bandwidth_counts());
}

TEST(SpmdTimeOfThousandSmall, ABarrierIsThatOfItsLatencies) {
    expect_closed_form(find_algorithm(Operation::barrier, ""), 1000, 1, latency_counts());
}

}  // namespace
}  // namespace heddle::spmd
