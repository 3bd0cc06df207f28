// Tests the NAS Parallel Benchmarks over shared memory: they give their published answers natively, in
// simulation and in-process. Every protocol is tried, with pages of 4 and 64 KiB. nas_workloads_slow_test.cpp
// tries all combinations, and larger classes.
#include <gtest/gtest.h>

#include <iterator>

#include "tests/nas_workloads_testing.hpp"
#include "workloads/nas_random.hpp"

namespace heddle::testing_filaments {
namespace {

using workloads::Verdict;

class NasWorkloads : public testing::TestWithParam<MemoryWorld> {};

INSTANTIATE_TEST_SUITE_P(Worlds, NasWorkloads, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

/// CG meets at 1545 barriers, and between threads of a busy machine each one takes a while.
bool is_native(const MemoryWorld& world) {
    return world.name.starts_with("native");
}

/// Workloads, triggers, pages and machines take turns, in each world from other ones on.
TEST_P(NasWorkloads, GiveThePublishedAnswers) {
    const auto all = testing_dsm::worlds();
    std::size_t turn = 0;
    while (all[turn].name != GetParam().name) ++turn;
    const auto triggers = testing_dsm::triggers();
    bool has_run_cg = false;
    for (const auto& protocol : dsm::protocols()) {
        runtime::SharedPages memory;
        memory.protocol = protocol.name;
        memory.trigger = triggers[turn % triggers.size()];
        memory.page_bytes = turn % 2 == 0 ? 4096 : 65536;
        const bool runs_cg = (turn + turn / 2) % 2 == 0 && !(is_native(GetParam()) && has_run_cg);
        has_run_cg = has_run_cg || runs_cg;
        const Machine& machine = nas_machines[turn % std::size(nas_machines)];
        expect_right(GetParam(), machine, memory, nas_workloads()[runs_cg ? 1 : 0]);
        ++turn;
    }
    EXPECT_TRUE(has_run_cg);
}

TEST_P(NasWorkloads, RunWithoutTheirKernels) {
    for (const Small& nas : nas_workloads()) {
        if (is_native(GetParam()) && nas.name == "nas_cg") continue;
        runtime::SharedPages memory;
        memory.trigger = runtime::Trigger::checked;
        Values values = nas.values;
        values["kernels"] = "skip";
        const Outcome outcome = run_workload(GetParam(), {2, 1}, memory, nas.name, values);
        EXPECT_EQ(outcome.verdict.kind, Verdict::Kind::unchecked);
    }
}

/// The residual is made of rounding errors, so another order of a sum would show.
TEST(NasCg, HasTheSameBitsInEveryWorldOnOneMachine) {
    std::vector<Outcome> outcomes;
    for (const MemoryWorld& world :
         {testing_dsm::inprocess_world(1, false), testing_dsm::faulty_world(1), testing_dsm::faulty_world(2),
          testing_dsm::native_world("native", native::Local::shared_memory)})
        outcomes.push_back(run_workload(world, {2, 2}, {}, "nas_cg", {{"pools", "2"}}));
    for (const Outcome& outcome : outcomes) {
        EXPECT_GT(outcome.value("residual"), 0);
        EXPECT_EQ(outcome.value("residual"), outcomes[0].value("residual"));
        EXPECT_EQ(outcome.value("zeta"), outcomes[0].value("zeta"));
    }
}

/// Known answers: Python's integers, 5^(13 k) 314159265 mod 2^46.
TEST(NasRandom, IsTheReportsGenerator) {
    workloads::NasRandom random;
    EXPECT_EQ(random.next(), 55'909'509'111'989U);
    EXPECT_EQ(workloads::NasRandom(999'999).next(), 50'447'193'586'593U);
    workloads::NasRandom skipped(1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(skipped.next(), random.next());
}

}  // namespace
}  // namespace heddle::testing_filaments
