// Tests that a thread runs before others where it may, and lets them have the core when it waits for them.
#include "runtime/native/thread_priority.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace heddle::native {
namespace {

struct Asked {
    bool first;
    int nice;
};

/// What a new thread has after it asked.
Asked asked() {
    Asked result{};
    std::thread([&] {
        result.first = run_before_others();
        result.nice = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    }).join();
    return result;
}

bool privileged() {
    rlimit limit{};
    return geteuid() == 0 || (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= 35);
}

TEST(ThreadPriority, IsHigherExactlyIfTheThreadWasToldSo) {
    const int before = getpriority(PRIO_PROCESS, 0);
    const Asked thread = asked();
    EXPECT_EQ(thread.first, thread.nice < before) << thread.nice;
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before) << "of this thread, which asked for nothing";
}

TEST(ThreadPriority, StaysWithoutPrivilege) {
    if (privileged()) GTEST_SKIP() << "this user may";
    EXPECT_FALSE(asked().first);
}

/// It waits awake for a thread on its own core, as for a lock that this holds: that one goes on all the same.
TEST(ThreadPriority, LetsTheThreadThatItWaitsForHaveTheCore) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    std::atomic<int> turn{0};
    constexpr int turns = 200;
    const auto take_turns = [&](int mine, bool first) {
        sched_setaffinity(0, sizeof one, &one);
        if (first) (void)run_before_others();
        for (int i = mine; i < turns; i += 2) {
            while (turn.load() != i) give_core_away();
            turn.store(i + 1);
        }
    };
    std::thread worker(take_turns, 0, false), receiver(take_turns, 1, true);
    worker.join();
    receiver.join();
    EXPECT_EQ(turn.load(), turns);
}

}  // namespace
}  // namespace heddle::native
