// Sets a thread's priority and slice.
//
// Since Linux 6.6 a woken thread takes the core from another one if its slice is shorter and it has had less
// than its share of the core lately. One that has just run for 50 us has had more, and then waits for the
// next tick. With high priority the same run counts for 2 us.
#include "runtime/native/thread_priority.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace heddle::native {

namespace {

/// The first version of the system's struct sched_attr, which C libraries before glibc 2.41 do not declare.
struct Attributes {
    std::uint32_t size = sizeof(Attributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;  ///< of SCHED_OTHER the slice in nanoseconds, from Linux 6.12 on
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

constexpr std::int32_t high_priority = -15;  ///< weighs 28 times as much as 0
constexpr std::uint64_t slice = 100'000;     ///< the shortest that the system accepts
constexpr long nap = 30'000;  ///< nanoseconds: time for others to get the core and do something

thread_local bool is_first = false;

}  // namespace

bool run_before_others() {
    Attributes attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return false;
    if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH)
        return false;  // the user's choice
    attributes.nice = std::min(attributes.nice, high_priority);
    attributes.runtime = slice;
    is_first = syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
    return is_first;
}

void run_like_first_thread() {
    Attributes attributes;
    if (syscall(SYS_sched_getattr, getpid(), &attributes, sizeof attributes, 0) == 0)
        syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void give_core_away() {
    if (!is_first) {
        sched_yield();
        return;
    }
    const timespec shortly{0, nap};
    nanosleep(&shortly, nullptr);
}

}  // namespace heddle::native
