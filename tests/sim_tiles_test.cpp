// Simulates the tile factorizations: their numbers are computed and right, and they send the promised bytes.
// Their time follows from the declared work.
#include <gtest/gtest.h>

#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/stealing/policy.hpp"
#include "sim/sim_backend.hpp"
#include "tests/tile_testing.hpp"

namespace heddle {
namespace {

using namespace testing_tiles;
using Kind = workloads::Verdict::Kind;

Done simulate(workloads::Workload& workload, NodeId nodes, CoreId cores, const runtime::Schedule& schedule,
              bool overheads = true) {
    Platform platform;
    platform.nodes = nodes;
    platform.cores = cores;
    platform.core_speed = 1e9;
    if (!overheads) platform.overheads = {};
    sim::SimBackend backend(platform);
    return run(workload, backend, schedule);
}

TEST(SimTiles, FactorsAreThoseOfTheSmallWorldAndBytesThosePromised) {
    for (const std::string name : {"cholesky", "lu"}) {
        const auto workload = [&] { return make(name, {{"tiles", "5"}, {"tile_size", "8"}}); };
        inprocess::InprocessBackend backend({1, 1, 1});
        const auto alone_workload = workload();
        const auto alone = factor(run(*alone_workload, backend, schedule("serial", "none")).result, 5, 8);
        for (const std::string placement : {"heft", "etf", "dsc", "metis", "block", "cyclic"}) {
            const auto placed = workload();
            const Done done = simulate(*placed, 4, 2, schedule(placement, "none"));
            EXPECT_EQ(done.verdict.kind, Kind::right) << placement << ": " << done.verdict.reason;
            EXPECT_EQ(done.result.total.data_bytes, done.promised_bytes) << placement;
            EXPECT_GT(done.promised_bytes, 0);
            EXPECT_EQ(factor(done.result, 5, 8), alone) << placement;
        }
    }
}

TEST(SimTiles, FactorsAreRightUnderEveryPolicy) {
    for (const std::string name : {"cholesky", "lu"}) {
        for (const std::string& victim : runtime::victim_policies()) {
            for (std::uint64_t seed = 1; seed <= 5; ++seed) {
                const auto workload = make(name, {{"tiles", "5"}, {"tile_size", "8"}});
                const Done done = simulate(*workload, 3, 2, schedule("none", victim, seed));
                EXPECT_EQ(done.verdict.kind, Kind::right) << victim << ": " << done.verdict.reason;
            }
        }
    }
}

// For n rows n^3 / 3 and 2 n^3 / 3 flops, to the highest order; exactly, the sum over the kernels, which for
// 4 tiles of 30 rows is 27000 * (4/3 + 6 + 6 + 2 * 4) and 27000 * (4 * 2/3 + 12 + 2 * 14).
TEST(SimTiles, OneCoreTakesAsLongAsItsFlops) {
    for (const auto& [name, nanoseconds] : {std::pair("cholesky", 576000), std::pair("lu", 1152000)}) {
        const auto workload = make(name, {{"tiles", "4"}, {"tile_size", "30"}});
        const Done done = simulate(*workload, 1, 1, schedule("serial", "none"), false);
        EXPECT_EQ(done.result.makespan, std::chrono::nanoseconds(nanoseconds)) << name;
    }
}

TEST(SimTiles, DeclaredKernelsTakeAsLongAsThoseThatRun) {
    for (const std::string name : {"cholesky", "lu"}) {
        for (const std::string victim : {"none", "local_first"}) {
            const auto makespan = [&](const std::string& kernels) {
                const auto workload = make(name, {{"tiles", "6"}, {"tile_size", "24"}, {"kernels", kernels}});
                const Done done = simulate(*workload, 3, 1, schedule("heft", victim));
                if (victim == "none") {
                    EXPECT_EQ(done.result.total.data_bytes, done.promised_bytes);
                }
                return std::pair(done.result.makespan, done.result.total.bytes);
            };
            EXPECT_EQ(makespan("run"), makespan("declare")) << name << ", " << victim;
        }
    }
}

}  // namespace
}  // namespace heddle
