// Measures how fast a core runs a chain of multiplications, and runs as many as a duration needs.
#include "runtime/native/busy_work.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace heddle::native {

namespace {

using Clock = std::chrono::steady_clock;

/// A chain of multiplications: no step can begin before the last one has ended.
void run_steps(std::uint64_t count) {
    std::uint64_t value = count | 1;
    for (; count > 0; --count) {
        value = value * 0x9e3779b97f4a7c15U + 1;
        asm volatile("" : "+r"(value));
    }
}

/// The fastest of several tries: whatever slows one down is not the step's own. Short, because each run waits
/// for it.
double measure_steps_per_second() {
    constexpr std::uint64_t steps = 10'000;
    constexpr int tries = 10;
    double best = 0;
    for (int i = 0; i < tries; ++i) {
        const Clock::time_point start = Clock::now();
        run_steps(steps);
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::max(best, static_cast<double>(steps) / std::max(seconds, 1e-9));
    }
    return best;
}

double steps_per_second() {
    static const double measured = measure_steps_per_second();
    return measured;
}

}  // namespace

void prepare_busy_work() {
    (void)steps_per_second();
}

void keep_busy(Time duration) {
    run_steps(static_cast<std::uint64_t>(std::max(0.0, to_seconds(duration) * steps_per_second())));
}

}  // namespace heddle::native
