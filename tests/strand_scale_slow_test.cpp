// Tests many strands, natively and on simulated nodes: none loses a signal, and one that waits holds little
// memory.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>

#include "runtime/comm/team.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_strands {
namespace {

using runtime::Event;

/// Each of 100,000 strands completes the events of ten others and waits for ten of its own: a million
/// signals.
TEST(StrandScale, NoSignalIsLostAmongMany) {
    constexpr std::size_t strands = 100'000;
    constexpr std::size_t rounds = 10;
    const auto events = std::make_unique<Event[]>(strands * rounds);
    std::atomic<std::size_t> ended{0};
    native::NativeOptions options;
    options.cores = 4;
    native::NativeBackend backend(options);
    runtime::Execution execution(backend, {}, [&](NodeId) {
        return std::make_unique<FirstTask>([&](Worker& worker) {
            for (std::size_t i = 0; i < strands; ++i) {
                Strand::start(worker, [&, i](Strand& self) {
                    for (std::size_t round = 0; round < rounds; ++round) {
                        const std::size_t other = (i + 7919 * (round + 1)) % strands;
                        events[other * rounds + round].complete(self.worker().node(), self.worker());
                        self.wait(events[i * rounds + round]);
                    }
                    ++ended;
                });
            }
        });
    });
    (void)execution.run();
    EXPECT_EQ(ended, strands);
}

// Sanitizers hold memory of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
double resident_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (!file) return 0;
    unsigned long size = 0;
    unsigned long pages = 0;
    const int read = std::fscanf(file, "%lu %lu", &size, &pages);
    std::fclose(file);
    return read == 2 ? static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Resident bytes of each strand when `members` on each node wait at a barrier.
double resident_when_all_wait(const World& world, NodeId nodes, CoreId cores, std::uint32_t members) {
    std::atomic<std::uint64_t> come{0};
    std::atomic<bool> begun{false};
    double before = 0;
    double after = 0;
    world.run(nodes, cores, [&](NodeId) {
        return std::make_unique<OnEachNode>([&](Worker& worker) {
            if (!begun.exchange(true)) before = resident_bytes();
            const auto team = std::make_shared<runtime::Team>(worker.node(), 1, members);
            for (std::uint32_t member = 0; member < members; ++member) {
                Strand::start(worker, [&, team](Strand& self) {
                    if (++come == std::uint64_t{members} * nodes) after = resident_bytes();
                    team->barrier(self);
                });
            }
        });
    });
    return (after - before) / (static_cast<double>(members) * nodes);
}

constexpr double most = 12 * 1024;

TEST(StrandScale, ThoseThatWaitNativelyHoldLittleMemory) {
    const double bytes = resident_when_all_wait(one_backend("native", one_native_node), 1, 1, 20'000);
    std::printf("%.0f bytes each\n", bytes);
    EXPECT_GT(bytes, 1000);
    EXPECT_LE(bytes, most);
}

#ifdef HEDDLE_SIM
TEST(StrandScale, ThoseThatWaitOnSimulatedNodesHoldLittleMemory) {
    const World world = one_backend("sim", [](NodeId nodes, CoreId cores) {
        Platform platform;
        platform.nodes = nodes;
        platform.cores = cores;
        return std::make_unique<sim::SimBackend>(platform, sim::SimOptions{});
    });
    const double bytes = resident_when_all_wait(world, 1000, 4, 64);
    std::printf("%.0f bytes each\n", bytes);
    EXPECT_GT(bytes, 1000);
    EXPECT_LE(bytes, most);
}
#endif
#endif

}  // namespace
}  // namespace heddle::testing_strands
