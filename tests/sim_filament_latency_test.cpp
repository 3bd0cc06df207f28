// Tests that several pools of filaments for each processor hide the time that pages take, in simulation. What
// one pool waits for comes while the others compute. filament_workloads_test.cpp tests the results.
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

}  // namespace
}  // namespace heddle::testing_filaments
