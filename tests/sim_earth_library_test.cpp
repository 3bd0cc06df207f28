// Runs EARTH's library on simulated clusters: its promises hold, and the seed determines the run.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sim/sim_backend.hpp"
#include "tests/earth_library_programs.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::earth_testing {
namespace {

Platform cluster(NodeId nodes, CoreId cores) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    return platform;
}

TEST(SimEarthLibrary, TheLockExcludes) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        runtime::Schedule schedule;
        schedule.seed = seed;
        const auto once = [&] {
            return sim::testing::all_of(sim::testing::simulate(
                {"earth_lock", {{"threads", "40"}, {"checked", "true"}}}, cluster(7, 3), schedule));
        };
        EXPECT_EQ(once(), once()) << "seed " << seed;
    }
}

TEST(SimEarthLibrary, ABarrierTakesTheTimeOfItsTree) {
    const auto makespan = [](std::uint32_t nodes) {
        sim::SimBackend backend(cluster(nodes, 2), {});
        RoundsState state{2 * nodes, 20};
        const auto result = run_on(backend, state, start<RoundsMain>, 1, "none");
        EXPECT_EQ(result.answer.at(0).value, 0);
        EXPECT_EQ(state.arrived, std::uint64_t{2} * nodes * 20);
        EXPECT_EQ(state.early, 0);
        EXPECT_EQ(state.late, 0);
        return result.makespan;
    };
    // Eight times the nodes are three more levels of the tree: from 3 to 6 below the root.
    EXPECT_LT(makespan(120), 4 * makespan(15));
}

}  // namespace
}  // namespace heddle::earth_testing
