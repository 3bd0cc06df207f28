// Tests the workloads of filaments over shared memory: their results are those of sequential programs, bit by
// bit. They run natively, in simulation and in-process, by every protocol and trigger, with pages of 4 and 64
// KiB.
#include <gtest/gtest.h>

#include <iterator>
#include <tuple>

#include "results/sharing_report.hpp"
#include "tests/filament_workloads_testing.hpp"

namespace heddle::testing_filaments {
namespace {

using workloads::Verdict;

class FilamentWorkloads : public testing::TestWithParam<MemoryWorld> {};

INSTANTIATE_TEST_SUITE_P(Worlds, FilamentWorkloads, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

/// Workloads and machines take turns, in each world from another one on. filament_workloads_slow_test.cpp
/// tries them all.
TEST_P(FilamentWorkloads, GiveTheAnswersOfSequentialPrograms) {
    const auto all = testing_dsm::worlds();
    std::size_t turn = 0;
    while (all[turn].name != GetParam().name) ++turn;
    for_all_memories([&](const runtime::SharedPages& memory) {
        const auto& small = small_workloads();
        expect_right(GetParam(), machines[turn % std::size(machines)], memory, small[turn % small.size()]);
        ++turn;
    });
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

/// 4 nodes write each page of 4 KiB, of whose rows of 384 bytes ten are whole.
TEST_P(FilamentWorkloads, NamePagesThatRowsShareAndNeedFewerMessagesByLazyRelease) {
    if (GetParam().name.starts_with("native")) GTEST_SKIP() << "timing decides how many messages there are";
    const auto run = [&](const std::string& protocol, const std::string& rows) {
        runtime::SharedPages memory;
        memory.protocol = protocol;
        memory.trigger = runtime::Trigger::mprotect;
        Outcome outcome =
            run_workload(GetParam(), {4, 2}, memory, "filament_lu", {{"n", "48"}, {"rows", rows}});
        EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::right) << outcome.verdict.reason;
        return outcome.result;
    };
    const auto invalidate = run("write_invalidate", "packed");
    const auto lazy = run("home_lazy_release", "packed");
    for (const auto* const result : {&invalidate, &lazy}) {
        const std::string text = results::sharing_text(result->sharing);
        EXPECT_NE(text.find("falsely shared: page 0 of A (rows 0 to 10) by nodes 0, 1, 2, 3"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("page 4 of A (rows 42 to 47) by nodes 0, 1, 2, 3"), std::string::npos) << text;
    }
    EXPECT_LT(lazy.total.messages, invalidate.total.messages);
    EXPECT_TRUE(run("write_invalidate", "aligned").sharing.pages.empty());
}

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

/// What they move does not depend on what they compute. (filament_lu exchanges rows only if it computes.)
TEST_P(FilamentWorkloads, MoveTheSamePagesWithAndWithoutTheirKernels) {
    if (!GetParam().name.starts_with("sim")) GTEST_SKIP() << "when messages come changes their number";
    for (const auto& protocol : dsm::protocols()) {
        runtime::SharedPages memory;
        memory.protocol = protocol.name;
        memory.trigger = runtime::Trigger::checked;
        for (const Small& small : small_workloads()) {
            if (small.name == "filament_lu") continue;
            const Outcome computed = run_workload(GetParam(), {4, 2}, memory, small.name, small.values);
            Values values = small.values;
            values["kernels"] = "skip";
            const Outcome skipped = run_workload(GetParam(), {4, 2}, memory, small.name, values);
            const auto moved = [&](const Outcome& outcome) {
                const runtime::Counters& counts = outcome.result.total;
                // With several writers, what has changed moves, and that takes time.
                const bool all = memory.protocol != "home_lazy_release";
                return std::tuple(counts.page_requests, counts.pages_moved, counts.invalidations,
                                  all ? counts.page_faults : 0, all ? counts.messages : 0,
                                  all ? counts.page_bytes : 0);
            };
            EXPECT_EQ(moved(skipped), moved(computed)) << small.name << " by " << protocol.name;
        }
    }
}

TEST_P(FilamentWorkloads, MayBeginAtAnyHome) {
    for (const std::string homes : {"first_node", "cyclic_rows"}) {
        for (const std::string rows : {"packed", "aligned"}) {
            for (Small small : small_workloads()) {
                small.values["homes"] = homes;
                small.values["rows"] = rows;
                runtime::SharedPages memory;
                memory.trigger = runtime::Trigger::checked;
                expect_right(GetParam(), {3, 2}, memory, small);
            }
        }
    }
}

/// Both grids whole, on each node.
TEST_P(FilamentWorkloads, JacobiMayBeFilledEverywhere) {
    for_all_memories([&](const runtime::SharedPages& memory) {
        if (memory.page_bytes != 4096) return;
        expect_right(GetParam(), {3, 2}, memory,
                     {"jacobi",
                      {{"n", "40"}, {"sweeps", "3"}, {"pools", "2"}, {"fill", "everywhere"}},
                      "the sequential program's bits"});
    });
}

}  // namespace
}  // namespace heddle::testing_filaments
