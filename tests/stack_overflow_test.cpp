// Tests that a native worker whose stack is full ends the process with exit code 2 and a message. The test's
// tree is 1572 deep: more than 64 KiB of stack can hold.
#include <gtest/gtest.h>

#include <csignal>

#include "base/stack_guard.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/run/execution.hpp"
#include "workloads/workload.hpp"

namespace heddle {
namespace {

void search_deep_tree(std::uint64_t stack_bytes, CoreId cores) {
    const auto& kind = workloads::find("uts");
    Settings settings(kind.settings);
    settings.set("tree", "T3");
    const auto workload = kind.make(settings);
    native::NativeOptions options;
    options.cores = cores;
    options.stack_bytes = stack_bytes;
    native::NativeBackend backend(options);
    workload->prepare({{1, cores}}, {});
    runtime::Execution execution(backend, {}, [&](NodeId id) { return workload->program(id); });
    (void)execution.run();
}

TEST(StackOverflowDeathTest, EndsTheProcessWithTheWorkersName) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers handle the signal themselves";
#endif
    for (const CoreId cores : {1U, 2U}) {
        EXPECT_EXIT(search_deep_tree(64U << 10, cores), ::testing::ExitedWithCode(2),
                    "the stack of worker [01], 64 KiB, is full; raise schedule.stack");
    }
}

TEST(StackOverflowDeathTest, OtherFaultsKeepTheirSignal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers handle the signal themselves";
#endif
    const auto fault = [] {
        const SignalStack signals;
        *static_cast<volatile int*>(nullptr) = 1;
    };
    EXPECT_EXIT(fault(), ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace heddle
