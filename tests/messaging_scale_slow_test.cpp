// Tests many messaging threads: waiting ones hold little memory, and many messages to one thread lose
// nothing.
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "runtime/sources/timers.hpp"
#include "tests/messaging_testing.hpp"

namespace heddle::messaging {
namespace {

// --- ten thousand senders to one receiver

void sends(Thread& self, ThreadId to, std::uint32_t number) {
    self.send(to, number % 64, number);
}

TEST(MessagingScale, TenThousandSendersLoseNothing) {
    constexpr std::uint32_t senders = 10'000;
    std::uint64_t sum = 0;
    testing_strands::run_native_nodes(2, 2, [&](NodeId) {
        return std::make_unique<MainThread>([&](Thread& self) {
            for (std::uint32_t i = 0; i < senders; ++i) self.create<sends>(i % 2, self.id(), i);
            // By tags in turn, the last first.
            for (Tag tag = 64; tag-- > 0;)
                for (std::uint32_t i = static_cast<std::uint32_t>(tag); i < senders; i += 64)
                    sum += self.receive<std::uint32_t>({.tag = tag});
        });
    });
    EXPECT_EQ(sum, std::uint64_t{senders} * (senders - 1) / 2);
}

// Sanitizers hold memory of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::atomic<std::uint64_t> come{0};

void waits(Thread& self) {
    ++come;
    self.receive<bool>();
}

double resident_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (!file) return 0;
    unsigned long size = 0;
    unsigned long pages = 0;
    const int read = std::fscanf(file, "%lu %lu", &size, &pages);
    std::fclose(file);
    return read == 2 ? static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Resident bytes of each thread when `threads` on each process wait in receives.
double resident_when_all_wait(runtime::Backend& backend, NodeId nodes, std::uint32_t threads) {
    come = 0;
    double before = 0;
    double after = 0;
    // If idle workers asked all nodes for work, the routes between each two nodes would count as well.
    runtime::Schedule schedule;
    schedule.stealing.victim = "none";
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<MainThread>([&](Thread& self) {
            before = resident_bytes();
            std::vector<ThreadId> all;
            for (NodeId node = 0; node < nodes; ++node)
                for (std::uint32_t i = 0; i < threads; ++i) all.push_back(self.create<waits>(node));
            while (come != all.size()) runtime::sleep_for(self.strand(), std::chrono::milliseconds(1));
            after = resident_bytes();
            for (const ThreadId thread : all) self.send(thread, 0, true);
        });
    }).run();
    return (after - before) / (static_cast<double>(threads) * nodes);
}

constexpr double most = 12 * 1024;

TEST(MessagingScale, ThreadsThatWaitNativelyHoldLittleMemory) {
    native::NativeOptions options;
    options.cores = 2;
    native::NativeBackend backend(options);
    const double bytes = resident_when_all_wait(backend, 1, 20'000);
    std::printf("%.0f bytes each\n", bytes);
    EXPECT_GT(bytes, 1000);
    EXPECT_LE(bytes, most);
}

#ifdef HEDDLE_SIM
TEST(MessagingScale, ThreadsThatWaitOnSimulatedNodesHoldLittleMemory) {
    Platform platform;
    platform.nodes = 1000;
    platform.cores = 4;
    sim::SimBackend backend(platform, sim::SimOptions{});
    const double bytes = resident_when_all_wait(backend, 1000, 64);
    std::printf("%.0f bytes each\n", bytes);
    EXPECT_GT(bytes, 1000);
    EXPECT_LE(bytes, most);
}
#endif
#endif

}  // namespace
}  // namespace heddle::messaging
