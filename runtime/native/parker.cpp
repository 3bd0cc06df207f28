// Parks a thread on a futex, after a short spin.
#include "runtime/native/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "base/relax.hpp"

namespace heddle::native {

namespace {

std::uint32_t* word(std::atomic<std::uint32_t>& state) {
    static_assert(sizeof(state) == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
    return reinterpret_cast<std::uint32_t*>(&state);
}

}  // namespace

void Parker::park(Deadline deadline, std::chrono::nanoseconds spin) {
    if (take()) return;
    if (spin.count() > 0) {
        const Deadline end = std::min(deadline, Clock::now() + spin);
        do {
            for (int i = 0; i < 16; ++i) {
                if (state_.load(std::memory_order_relaxed) == permit) {
                    state_.exchange(empty, std::memory_order_acquire);
                    return;
                }
                relax();
            }
        } while (Clock::now() < end);
    }
    std::uint32_t expected = empty;
    if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acquire)) {
        // The steady clock is CLOCK_MONOTONIC, and FUTEX_WAIT_BITSET takes an absolute time on it.
        const auto since_epoch = deadline.time_since_epoch();
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
        timespec until{};
        until.tv_sec = static_cast<time_t>(seconds.count());
        until.tv_nsec = static_cast<long>((since_epoch - seconds).count());
        while (state_.load(std::memory_order_relaxed) == asleep && Clock::now() < deadline) {
            syscall(SYS_futex, word(state_), FUTEX_WAIT_BITSET_PRIVATE, asleep,
                    deadline == Deadline::max() ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
        }
    }
    state_.exchange(empty, std::memory_order_acquire);
}

bool Parker::take() {
    // Only its owner takes the permit away, so there is nothing to exchange where there is none.
    return state_.load(std::memory_order_relaxed) == permit &&
           state_.exchange(empty, std::memory_order_acquire) == permit;
}

bool Parker::go_elsewhere() {
    std::uint32_t expected = empty;
    return state_.compare_exchange_strong(expected, elsewhere, std::memory_order_acq_rel);
}

void Parker::come_back() {
    std::uint32_t expected = elsewhere;
    state_.compare_exchange_strong(expected, empty, std::memory_order_acq_rel);
}

bool Parker::unpark() {
    // Always an exchange, even where the permit is there already: its release orders what this caller wrote.
    const std::uint32_t before = state_.exchange(permit, std::memory_order_acq_rel);
    if (before == asleep) syscall(SYS_futex, word(state_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return before == elsewhere;
}

}  // namespace heddle::native
