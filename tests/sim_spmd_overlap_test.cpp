// Tests calls in which helpers copy while the leader goes on (overlap): what they read is there until they
// have read it. Memory that is freed is overwritten meanwhile.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <memory>
#include <vector>

#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "tests/spmd_programs.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

/// As long as this lives, the allocator overwrites and keeps what is freed.
class FreedIsOverwritten {
public:
    FreedIsOverwritten() {
        ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
        ::mallopt(M_PERTURB, 0xa5);
    }
    ~FreedIsOverwritten() {
        ::mallopt(M_PERTURB, 0);
        ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
    }
    FreedIsOverwritten(const FreedIsOverwritten&) = delete;
    FreedIsOverwritten& operator=(const FreedIsOverwritten&) = delete;
};

// Root 5 gets the blocks of ranks 7 and 4 together, and has them in its scratch, which must then grow for
// those of groups 3 and 0. The network is so fast that the copies are not done by then.
TEST(SpmdOverlap, ScratchThatGrowsIsReadBefore) {
    const FreedIsOverwritten overwritten;
    constexpr NodeId nodes = 16;
    constexpr RankId root = 5;
    Platform platform;
    platform.nodes = nodes;
    platform.cores = 2;
    platform.network.latency = std::chrono::nanoseconds(10);
    platform.network.bandwidth = 10e12;
    for (const char* const name : {"two_level", "three_level"}) {
        const Algorithm& algorithm = find_algorithm(Operation::gather, name);
        std::vector<RandomCall> calls(nodes,
                                      {algorithm, Task{Operation::gather, nodes, root, 65'536, 1000, true}});
        for (NodeId node = 0; node < nodes; ++node) calls[node].prepare(node);
        sim::SimBackend backend(platform, sim::SimOptions{});
        runtime::Execution(backend, {}, [&](NodeId) {
            return std::make_unique<MainFunction>(SpmdOptions{.crew = {.overlap = true}, .group = 4},
                                                  [&](Spmd& self) { calls[self.node()].make(self); });
        }).run();
        for (NodeId node = 0; node < nodes; ++node) calls[node].check(node, name);
    }
}

}  // namespace
}  // namespace heddle::spmd
