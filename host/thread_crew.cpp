// Runs threads that spin briefly for the next piece of shared work, and then sleep.
#include "host/thread_crew.hpp"

#include <fmt/format.h>

#include <system_error>

#include "base/error.hpp"
#include "base/relax.hpp"
#include "base/stack_guard.hpp"

namespace heddle::host {

namespace {

/// Rounds follow each other within microseconds; sleeping and waking takes longer than most of them do.
constexpr int spins = 2000;

}  // namespace

ThreadCrew::ThreadCrew(unsigned size) {
    try {
        for (unsigned i = 1; i < size; ++i) threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error& error) {
        end();
        throw Error(fmt::format("cannot start {} threads: {}", size, error.what()), "ask for fewer");
    }
    // A caller may fork from now on: a thread that starts could hold a lock of the allocator meanwhile.
    for (std::size_t begun = begun_; begun != threads_.size(); begun = begun_) begun_.wait(begun);
}

ThreadCrew::~ThreadCrew() {
    end();
}

// Invariant: `share_` and `over_` change only while the round is closed and no thread is at it. A thread
// begins by the one operation that finds the round open.
void ThreadCrew::run(const std::function<void()>& share) {
    share_ = &share;
    const std::uint64_t number = round_.load(std::memory_order_relaxed) & ~(one_round - 1);
    round_.store(number + one_round, std::memory_order_release);
    round_.notify_all();
    share();
    std::uint64_t state = round_.fetch_or(closed, std::memory_order_acq_rel) | closed;
    for (int i = 0; state != ((number + one_round) | closed); ++i) {
        if (i < spins) {
            relax();
        } else {
            round_.wait(state, std::memory_order_acquire);
        }
        state = round_.load(std::memory_order_acquire);
    }
}

void ThreadCrew::end() {
    over_ = true;
    round_.fetch_add(one_round, std::memory_order_release);
    round_.fetch_and(~closed, std::memory_order_release);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void ThreadCrew::serve() {
    const SignalStack signals;  // the work may run on guarded stacks
    ++begun_;
    begun_.notify_all();
    std::uint64_t seen = closed;
    for (int i = 0;; ++i) {
        std::uint64_t state = round_.load(std::memory_order_acquire);
        // A thread joins a round once: if it came back, it would find nothing to do.
        if ((state & closed) != 0 || state / one_round == seen / one_round) {
            if (i < spins) {
                relax();
            } else {
                round_.wait(state, std::memory_order_acquire);
            }
            continue;
        }
        if (!round_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) continue;
        if (over_) return;
        (*share_)();
        seen = state;
        round_.fetch_sub(1, std::memory_order_acq_rel);
        round_.notify_all();
        i = 0;
    }
}

}  // namespace heddle::host
