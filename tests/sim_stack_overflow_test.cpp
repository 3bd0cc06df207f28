// Tests that a simulated worker whose stack is full ends the process with exit code 2 and a message, with one
// thread and with several.
#include <gtest/gtest.h>

#include <memory>

#include "host/thread_crew.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// Uses about `bytes` of stack.
[[gnu::noinline]] int use_stack(std::size_t bytes) {
    volatile char frame[1024];
    frame[0] = static_cast<char>(bytes);
    if (bytes < sizeof frame) return frame[0];
    return use_stack(bytes - sizeof frame) + frame[0];
}

void fill_stacks(unsigned threads, NodeId from) {
    SimOptions options;
    options.stack_bytes = 64U << 10;
    if (threads > 1) options.crew = std::make_shared<host::ThreadCrew>(threads);
    run(
        ideal(16, 2),
        [from](Script&, Context& context) {
            compute(context, busy(us(1)));
            if (context.id.node >= from) (void)use_stack(65U << 10);
            compute(context, busy(us(1)));
        },
        {}, options);
}

TEST(SimStackOverflowDeathTest, EndsTheProcessWithTheWorkersNumber) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers handle the signal themselves";
#endif
    EXPECT_EXIT(fill_stacks(1, 5), ::testing::ExitedWithCode(2),
                "the stack of worker 1[01], 64 KiB, is full; raise schedule.stack");
    EXPECT_EXIT(fill_stacks(2, 0), ::testing::ExitedWithCode(2), "64 KiB, is full");
    fill_stacks(2, 16);  // none
}

TEST(SimStackOverflowDeathTest, AlsoOnTheLargeStackOfAWorkerThatBeganOnASmallOne) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers handle the signal themselves";
#endif
    SimOptions options;
    options.stack_bytes = 64U << 10;
    EXPECT_EXIT(simulate({"uts", {{"tree", "T3"}}}, ideal(1), {}, options), ::testing::ExitedWithCode(2),
                "the stack of worker 0, 64 KiB, is full; raise schedule.stack");
}

}  // namespace
}  // namespace heddle::sim::testing
