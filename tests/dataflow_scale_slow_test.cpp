// Tests many forks in one dataflow body, and many dataflow threads: memory is bounded and is returned, and no
// signal is lost.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>

#include "model/dataflow.hpp"
#include "model/dataflow/kaapi_threads.hpp"
#include "model/dataflow/mutex.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::dataflow {
namespace {

using runtime::Worker;

// --- ten million forks in one body

constexpr std::uint64_t forks = 10'000'000;

void add_product(Thread& /*self*/, shared_r<std::uint64_t> a, shared_r<std::uint64_t> b,
                 shared_rw<std::uint64_t> sum) {
    sum.value() += a.read() * b.read();
}

std::size_t resident_bytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (!file) return 0;
    unsigned long size = 0;
    unsigned long pages = 0;
    const int read = std::fscanf(file, "%lu %lu", &size, &pages);
    std::fclose(file);
    return read == 2 ? pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

struct Forked {
    std::uint64_t sum = 0;
    std::size_t stack_bytes = 0;  ///< of the thread, after all forks
    std::size_t resident_after = 0;
};

class ForksWithoutEnd final : public DataflowProgram {
public:
    explicit ForksWithoutEnd(Forked& found) : found_(found) {}
    void main(Thread& self) override {
        shared<std::uint64_t> two(self, 2);
        shared<std::uint64_t> three(self, 3);
        shared<std::uint64_t> sum(self, 0);
        for (std::uint64_t i = 0; i < forks; ++i) self.fork<add_product>(two, three, sum);
        found_.stack_bytes = self.stack_bytes();
        self.sync();
        found_.sum = sum.read();
        malloc_trim(0);
        found_.resident_after = resident_bytes();
    }
    runtime::Answer answer() const override { return {}; }

private:
    Forked& found_;
};

Forked fork_without_end(std::uint64_t window) {
    Forked found;
    native::NativeOptions options;
    options.cores = 2;
    native::NativeBackend backend(options);
    runtime::Schedule schedule;
    schedule.fork_window = window;
    runtime::Execution(backend, schedule, [&](NodeId) {
        return std::make_unique<ForksWithoutEnd>(found);
    }).run();
    EXPECT_EQ(found.sum, forks * 6);
    return found;
}

TEST(DataflowScale, AClosureWithThreeAccessesTakes160Bytes) {
    [[maybe_unused]] const std::size_t before = resident_bytes();
    const Forked found = fork_without_end(0);
    EXPECT_LE(found.stack_bytes, forks * 161);  // with the ends of blocks
    EXPECT_GE(found.stack_bytes, forks * 100);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they keep what is freed
    EXPECT_LE(found.resident_after, before + (64U << 20));
#endif
}

TEST(DataflowScale, AWindowBoundsThem) {
    constexpr std::uint64_t window = 10'000;
    EXPECT_LE(fork_without_end(window).stack_bytes, 2 * window * 160);
}

// --- many threads, a million signals

/// Each thread waits ten times for its value, and sets another thread's.
struct Ring {
    static constexpr std::size_t threads = 100'000;
    static constexpr long rounds = 10;
    std::unique_ptr<ValueCondition[]> values = std::make_unique<ValueCondition[]>(threads);
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> ended{0};
};

void run_in_ring(Kaapi& self, void* argument) {
    auto& ring = *static_cast<Ring*>(argument);
    const std::size_t own = ring.next.fetch_add(1);
    const std::size_t other = (own + 7919) % Ring::threads;
    for (long round = 1; round <= Ring::rounds; ++round) {
        ring.values[other].signal(self.strand(), round);
        // The one before may be ahead, by the rounds that this one has done.
        ring.values[own].wait_not_equal(self.strand(), round - 1);
    }
    ++ring.ended;
}

TEST(DataflowScale, NoSignalIsLostAmongAHundredThousandThreads) {
    Ring ring;
    native::NativeOptions options;
    options.cores = 4;
    native::NativeBackend backend(options);
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<testing_strands::FirstTask>([&](Worker& worker) {
            for (std::size_t i = 0; i < Ring::threads; ++i) {
                KaapiId tid;
                create(worker, tid, {}, &run_in_ring, &ring);
            }
        });
    }).run();
    EXPECT_EQ(ring.ended, Ring::threads);
}

}  // namespace
}  // namespace heddle::dataflow
