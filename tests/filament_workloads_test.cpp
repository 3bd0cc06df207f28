// Tests the workloads of filaments over shared memory: in every world, by every protocol and trigger, with
// pages of 4 and 64 KiB, their results are those of sequential programs, bit by bit.
#include <gmock/gmock.h>

#include "tests/filament_workloads_testing.hpp"

namespace heddle::testing_filaments {
namespace {

using testing::HasSubstr;
using workloads::Verdict;

class FilamentWorkloads : public testing::TestWithParam<World> {};

INSTANTIATE_TEST_SUITE_P(Worlds, FilamentWorkloads, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

/// Each combination on one of these, in turn.
constexpr Machine machines[] = {{1, 1}, {2, 2}, {4, 1}, {1, 4}, {3, 2}, {2, 1}, {4, 4}, {1, 2}};

TEST_P(FilamentWorkloads, GiveTheAnswersOfSequentialPrograms) {
    std::size_t turn = 0;
    for (const auto& protocol : dsm::protocols()) {
        for (const runtime::Trigger trigger : testing_dsm::triggers()) {
            for (const std::uint32_t page_bytes : {4096U, 65536U}) {
                for (const Small& small : small_workloads()) {
                    const Machine machine = machines[turn++ % std::size(machines)];
                    runtime::SharedPages memory;
                    memory.protocol = protocol.name;
                    memory.trigger = trigger;
                    memory.page_bytes = page_bytes;
                    const Outcome outcome =
                        run_workload(GetParam(), machine, memory, small.name, small.values);
                    EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::right)
                        << small.name << " on " << machine.nodes << " x " << machine.cores << " by "
                        << protocol.name << ", trigger " << static_cast<int>(trigger) << ", pages of "
                        << page_bytes << ": " << outcome.verdict.reason;
                    EXPECT_THAT(outcome.verdict.reason, HasSubstr(small.says));
                }
            }
        }
    }
}

TEST_P(FilamentWorkloads, StopWhereTheyHaveConverged) {
    runtime::SharedPages memory;
    memory.trigger = runtime::Trigger::checked;
    const Outcome outcome = run_workload(GetParam(), {2, 2}, memory, "jacobi",
                                         {{"n", "12"}, {"sweeps", "100000"}, {"tolerance", "1e-4"}});
    EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::right) << outcome.verdict.reason;
    EXPECT_LT(outcome.value("sweeps"), 300);
    EXPECT_LT(outcome.value("largest_change"), 1e-4);
}

/// The published numbers of the test of larger size are in filament_workloads_slow_test.cpp.
TEST_P(FilamentWorkloads, RunWithoutTheirKernels) {
    for (const Small& small : small_workloads()) {
        for (const runtime::Trigger trigger : testing_dsm::triggers()) {
            runtime::SharedPages memory;
            memory.trigger = trigger;
            Values values = small.values;
            values["kernels"] = "skip";
            const Outcome outcome = run_workload(GetParam(), {2, 2}, memory, small.name, values);
            EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::unchecked);
        }
    }
}

}  // namespace
}  // namespace heddle::testing_filaments
