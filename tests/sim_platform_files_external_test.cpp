// Loads the platform files that come with SimGrid, and sends messages on them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.hpp"
#include "sim/platform_summary.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(HEDDLE_SOURCE_DIR) / "../shared/data/platforms";

/// Hosts, as counted by hand or by grep in the files.
const std::map<std::string, NodeId> hosts = {{"cluster_backbone", 100},
                                             {"cluster_crossbar", 65536},
                                             {"cluster_dragonfly", 120},
                                             {"cluster_fat_tree", 16},
                                             {"cluster_multi", 24},
                                             {"cluster_torus", 12},
                                             {"data_center", 120},
                                             {"griffon", 92},
                                             {"multicore_machine", 1},
                                             {"simulacrum_7_hosts", 7},
                                             {"small_platform", 7},
                                             {"graphene", 144},
                                             {"g5k", 1528}};

TEST(SimPlatformFiles, AllAreLoadedAndCarryMessages) {
    if (!fs::exists(folder)) GTEST_SKIP() << "no platform files beside the project";
    std::size_t loaded = 0;
    for (const auto& [file, count] : hosts) {
        Platform platform;
        platform.file = (folder / (file + ".xml")).string();
        if (!fs::exists(platform.file)) continue;
        ++loaded;
        SCOPED_TRACE(file);
        const PlatformSummary summary = describe(platform);
        EXPECT_EQ(summary.nodes, count);
        EXPECT_GT(summary.core_speed_min, 0);
        if (count == 1) continue;
        EXPECT_GT(summary.latency_min, Time::zero());
        EXPECT_GE(summary.latency_min, summary.lookahead);
        EXPECT_GT(summary.lookahead, Time::zero());
        EXPECT_GT(summary.bandwidth_min, 0);

        // A small and a large message from each of some nodes to the next, and the last one to the first.
        platform.nodes = std::min(count, NodeId{20});
        platform.stated_nodes = true;
        platform.cores = 1;
        platform.stated_cores = true;
        std::size_t came = 0;
        run(
            platform,
            [&](Script&, Context& context) {
                send(context, (context.id.node + 1) % platform.nodes, 100);
                send(context, (context.id.node + 1) % platform.nodes, 100000);
            },
            [&](Script&, Context&, NodeId, auto) { ++came; });
        EXPECT_EQ(came, 2 * platform.nodes);
    }
    EXPECT_EQ(loaded, hosts.size());
}

// Latencies and bandwidths as the file says them: 50 us and 1 Gbit/s to the switch and from it.
TEST(SimPlatformFiles, ACrossbarHasTheLatencyOfTwoLinks) {
    Platform platform;
    platform.file = (folder / "cluster_crossbar.xml").string();
    if (!fs::exists(platform.file)) GTEST_SKIP() << "no platform files beside the project";
    platform.nodes = 50;
    platform.stated_nodes = true;
    const PlatformSummary summary = describe(platform);
    EXPECT_EQ(summary.latency_min, us(100));
    EXPECT_EQ(summary.latency_max, us(100));
    EXPECT_EQ(summary.bandwidth_min, 125e6);
    EXPECT_EQ(summary.lookahead, us(100));
}

}  // namespace
}  // namespace heddle::sim::testing
