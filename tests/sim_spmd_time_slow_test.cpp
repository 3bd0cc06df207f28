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

// Algorithms that send a million messages would take SimGrid too long.
TEST_P(SpmdTimeOfThousand, IsThatOfTheClosedForm) {
    constexpr RankId ranks = 1000;
    const Algorithm& algorithm = GetParam();
    const Task task{algorithm.operation, ranks, 0, 1, 1, true};
    if (algorithm.operation == Operation::barrier ||
        closed_form(algorithm).sent(ranks, 1, task).messages >= ranks * (ranks - 1))
        GTEST_SKIP();
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
