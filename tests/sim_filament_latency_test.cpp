// Tests what pages of filaments wait for, in simulation. Several pools for each processor hide the time that
// pages take, because what one pool waits for comes while the others compute. And a processor that computes
// serves pages in passing. filament_workloads_test.cpp tests the results.
#include "sim/sim_backend.hpp"
#include "tests/filament_workloads_testing.hpp"

namespace heddle::testing_filaments {
namespace {

/// A network on which the request for a page and the page take a millisecond more, over two links each.
MemoryWorld slow_network() {
    return {"slow_network", [](NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
                               const runtime::ProgramFactory& make) {
                Platform platform;
                platform.nodes = nodes;
                platform.cores = cores;
                platform.network.latency = std::chrono::microseconds(250);
                sim::SimBackend backend(platform, sim::SimOptions{});
                return testing_dsm::execute(backend, {}, schedule, make);
            }};
}

/// How long processors had nothing to run because they waited for pages.
Time stalled(const std::string& pools) {
    const Values values{
        {"n", "128"}, {"sweeps", "20"}, {"pools", pools}, {"unit_cost", "12kf"}, {"rows", "aligned"}};
    const Outcome outcome = run_workload(slow_network(), {4, 1}, {}, "jacobi", values);
    EXPECT_EQ(outcome.verdict.kind, workloads::Verdict::Kind::right) << outcome.verdict.reason;
    Time all{};
    for (const auto& array : outcome.result.sharing.arrays) all += array.counts.waited - array.counts.hidden;
    return all;
}

TEST(SeveralPools, HideFourFifthsOfWhatOnePoolWaits) {
    const Time one = stalled("1");
    const Time four = stalled("4");
    EXPECT_GT(one, std::chrono::milliseconds(100));
    EXPECT_LE(four, one / 5) << "one pool waits " << to_seconds(one) << " s, four " << to_seconds(four);
}

/// Jacobi on two nodes of a machine, where a message that finds the receiver asleep takes so much from the
/// node's only core.
Time sweeps_with_interrupts_of(Time interrupt) {
    const MemoryWorld machine{"machine", [&](NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
                                             const runtime::ProgramFactory& make) {
                                  Platform platform;
                                  platform.nodes = platform.processes = nodes;
                                  platform.cores = cores;
                                  platform.overheads.message_interrupt = interrupt;
                                  sim::SimBackend backend(platform, sim::SimOptions{});
                                  return testing_dsm::execute(backend, {}, schedule, make);
                              }};
    const Values values{{"n", "128"}, {"sweeps", "20"}, {"unit_cost", "12kf"}};
    const Outcome outcome = run_workload(machine, {2, 1}, {}, "jacobi", values);
    EXPECT_EQ(outcome.verdict.kind, workloads::Verdict::Kind::right) << outcome.verdict.reason;
    return outcome.result.makespan;
}

// A sweep takes 10 ms, and each processor serves at least one page meanwhile. Without polls that is an
// interrupt each, so 20 ms in all.
TEST(AProcessorThatComputes, ServesPagesInPassing) {
    const Time without = sweeps_with_interrupts_of(Time::zero());
    const Time with = sweeps_with_interrupts_of(std::chrono::milliseconds(1));
    EXPECT_GT(without, std::chrono::milliseconds(150));
    EXPECT_LT(with - without, std::chrono::milliseconds(6));
}

}  // namespace
}  // namespace heddle::testing_filaments
