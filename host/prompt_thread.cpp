// Tells Linux's scheduler what a thread needs: timer slack, and the slice of EEVDF.
#include "host/prompt_thread.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace heddle::host {

namespace {

/// As the system call has it (sched_setattr(2)), in its first size.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;  ///< with the ordinary policy: the slice in ns
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

constexpr std::uint32_t ordinary_policy = 0;
constexpr std::uint64_t shortest_slice = 100'000;  ///< that Linux takes

}  // namespace

void wake_on_time() {
    prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds
}

void wake_promptly() {
    wake_on_time();
    SchedulingAttributes attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
    // What the user has given the process, real-time priority for instance, stays.
    if (attributes.policy != ordinary_policy) return;
    attributes.runtime = shortest_slice;
    // A system that refuses, or that knows no slices, runs it as any other.
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace heddle::host
