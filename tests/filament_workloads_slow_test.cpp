// Tests the workloads of filaments over shared memory on every machine with every memory. Also compares
// Jacobi's iteration of the HyFi paper's size with its known answer.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/filament_workloads_testing.hpp"

namespace heddle::testing_filaments {
namespace {

class AllFilamentWorkloads : public testing::TestWithParam<MemoryWorld> {};

INSTANTIATE_TEST_SUITE_P(Worlds, AllFilamentWorkloads, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(AllFilamentWorkloads, GiveTheAnswersOfSequentialProgramsOnAllMachines) {
    for_all_memories([&](const runtime::SharedPages& memory) {
        for (const Machine& machine : machines)
            for (const Small& small : small_workloads()) expect_right(GetParam(), machine, memory, small);
    });
}

/// 500 sweeps multiply the start by cos(pi / 1023)^500 = 0.9976450738.
TEST_P(AllFilamentWorkloads, SweepAGridOf1024Points) {
    EXPECT_NEAR(std::pow(std::cos(std::numbers::pi / 1023), 500), 0.9976450738, 1e-10);
    const Outcome outcome =
        run_workload(GetParam(), {2, 2}, {}, "jacobi", {{"n", "1024"}, {"sweeps", "500"}, {"pools", "4"}});
    EXPECT_EQ(outcome.verdict.kind, workloads::Verdict::Kind::right) << outcome.verdict.reason;
    EXPECT_EQ(outcome.value("sweeps"), 500);
    EXPECT_LT(outcome.value("deviation"), 1e-9);
}

}  // namespace
}  // namespace heddle::testing_filaments
