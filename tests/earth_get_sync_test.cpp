// Runs EARTH's split-phase read (Tremblay et al., section 2) on 1 to 64 nodes, over TCP and in simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime/native/rendezvous.hpp"
#include "tests/earth_get_sync.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle {
namespace {

using namespace test;
using testing::ElementsAre;

void start(Em em) {
    em.invoke<GetBoth>(0);
}

/// What node 0 has read, where each node is a backend on a thread of its own.
std::vector<std::int64_t> read_natively(NodeId nodes) {
    const native::Key key = native::make_key();
    const native::Rendezvous rendezvous(nodes, key);
    Notes shared;
    std::vector<std::thread> threads;
    for (NodeId node = 0; node < nodes; ++node) {
        threads.emplace_back([&, node] {
            native::NativeOptions options;
            options.cores = 1;
            options.membership = native::Membership{node, nodes, key, rendezvous.address(), node, nodes};
            native::NativeBackend backend(options);
            run_on(backend, {nodes, 1}, shared, start);
        });
    }
    for (std::thread& thread : threads) thread.join();
    return shared.values;
}

TEST(EarthGetSync, ReadsOverTcpOnOneTo64Nodes) {
    Notes alone;
    run_natively(2, alone, start);
    EXPECT_THAT(alone.values, ElementsAre(100, 100));
    for (const NodeId nodes : {2U, 3U, 8U, 64U})
        EXPECT_THAT(read_natively(nodes), ElementsAre(101, 100 + 2 % nodes)) << nodes << " nodes";
}

#ifdef HEDDLE_SIM
TEST(EarthGetSync, ReadsInSimulationOnOneTo64Nodes) {
    for (NodeId nodes = 1; nodes <= 64; ++nodes) {
        for (const bool single : {false, true}) {
            Platform platform;
            platform.nodes = nodes;
            platform.cores = 2;
            sim::SimOptions options;
            options.single_module = single;
            sim::SimBackend backend(platform, options);
            Notes shared;
            EXPECT_EQ(unterminated(run_on(backend, {nodes, 2}, shared, start)), 0);
            EXPECT_THAT(shared.values, ElementsAre(100 + 1 % nodes, 100 + 2 % nodes)) << nodes << " nodes";
        }
    }
}
#endif

}  // namespace
}  // namespace heddle
