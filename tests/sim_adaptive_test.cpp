// Tests what 16 simulated cores give loops that split when an idle worker asks.
#include <gtest/gtest.h>

#include <string>

#include "sim/sim_backend.hpp"
#include "tests/placement_testing.hpp"

namespace heddle {
namespace {

using testing_placement::Ran;

Ran simulated(const std::string& loop, CoreId cores, const std::string& victim = "local_first") {
    Platform platform;
    platform.nodes = 1;
    platform.cores = cores;
    sim::SimBackend backend(platform, {});
    runtime::Schedule schedule;
    schedule.stealing.victim = victim;
    return testing_placement::run(backend, {"adaptive", {{"loop", loop}}},
                                  testing_placement::cluster(1, cores), schedule);
}

double speedup(const std::string& loop, CoreId cores) {
    const Ran alone = simulated(loop, 1), together = simulated(loop, cores);
    EXPECT_TRUE(alone.right()) << alone.verdict.reason;
    EXPECT_TRUE(together.right()) << together.verdict.reason;
    return alone.answer("seconds") / together.answer("seconds");
}

TEST(SimAdaptive, IsFasterOnSixteenSimulatedCores) {
    EXPECT_GT(speedup("accumulate", 16), 15);
    EXPECT_GT(speedup("for", 16), 15);
    // At best (p + 1) / 2: a stolen part is gone through twice (Roch, Traore, Bernard, Euro-Par 2006).
    const double prefix_sum = speedup("prefix_sum", 16);
    EXPECT_GT(prefix_sum, 0.9 * 8.5);
    EXPECT_LE(prefix_sum, 8.5);
}

// A steal function is called for thieves only.
TEST(SimAdaptive, WithoutStealingALoopStaysWithItsWorker) {
    for (const char* loop : {"accumulate", "for", "find", "prefix_sum"}) {
        SCOPED_TRACE(loop);
        const Ran alone = simulated(loop, 1), together = simulated(loop, 4, "none");
        EXPECT_TRUE(together.right()) << together.verdict.reason;
        EXPECT_EQ(together.answer("seconds"), alone.answer("seconds"));
        EXPECT_EQ(together.result.total.steals_within_node, 0);
    }
}

}  // namespace
}  // namespace heddle
