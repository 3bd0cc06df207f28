// Makes one thread at a time receive, on a node without a receiver thread: a worker that waits, or that looks
// between tasks. The caller says how to receive; no socket is used here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/native/socket.hpp"

namespace heddle::native {

class Lookout {
public:
    /// What somebody waits for: a number of the user's own, by which he is woken.
    using Concern = std::uint32_t;

    /// `look(until)`: receives what has come. Where nothing has, waits for something until `until`; ends
    /// early after `interrupt()`, which may come before it. Called by one thread at a time.
    Lookout(std::function<bool(Deadline until)> look, std::function<void()> interrupt);

    /// Looks once, without waiting, unless somebody else does. Returns what `look` does.
    bool poll();

    /// Returns when `done()`, or at `deadline`. Receives meanwhile, unless somebody else does. `done` is
    /// asked under a lock: it is short, waits for nobody, and does not come back here.
    void wait(Deadline deadline, Concern concern, const std::function<bool()>& done);

    /// Lets those who wait for `concern` ask again. Any thread, after what they wait for has changed.
    void wake(Concern concern);

    /// Whether the caller is the one who receives.
    bool is_receiver() const {
        return receiver_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }

private:
    struct Waiter {
        Concern concern;
        std::condition_variable woken{};
    };

    bool look(std::unique_lock<std::mutex>& lock, Deadline until);
    void hand_over();

    const std::function<bool(Deadline)> look_;
    const std::function<void()> interrupt_;

    // Invariant: where `taken_` is false and somebody waits, one of those who wait is on his way to take it.
    // For whoever wants to wait looks at `taken_`, and whoever gives it back at `waiters_`, under one lock;
    // and every thread that leaves without it calls another. So while any thread of the node waits, a
    // message is seen when it comes.
    std::mutex mutex_;
    std::vector<Waiter*> waiters_;
    Waiter* at_it_ = nullptr;         ///< the waiter who receives, if it is one
    std::atomic<bool> taken_{false};  ///< somebody receives; read without the lock as a hint
    std::atomic<std::thread::id> receiver_{};
};

}  // namespace heddle::native
