// Lets one thread at a time receive, on a node without a receiver thread: a worker that waits, or that polls
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
    /// What a thread waits for: a number of the user's own, which `wake` takes.
    using Concern = std::uint32_t;

    /// `look(until)`: receives what has come. If nothing has, waits for something until `until`. Ends early
    /// after `interrupt()`, which may come before it. Called by one thread at a time.
    Lookout(std::function<bool(Deadline until)> look, std::function<void()> interrupt);

    /// Looks once, without waiting, and returns what `look` returns. If another thread receives: false, at
    /// once.
    bool poll();

    /// Returns when `done()`, or at `deadline`. Receives meanwhile, unless another thread does. `done` is
    /// called under a lock: it must be short, must not wait, and must not use this object.
    void wait(Deadline deadline, Concern concern, const std::function<bool()>& done);

    /// Lets the threads that wait for `concern` ask `done` again. Any thread, after what they wait for has
    /// changed.
    void wake(Concern concern);

    /// Whether the caller is the thread that receives.
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

    // Invariant: if `taken_` is false and threads wait, one of them is on its way to take it. A thread that
    // is to wait reads `taken_`, and a thread that gives it back reads `waiters_`, under one lock. Every
    // thread that stops waiting or receiving wakes a waiter, unless a thread receives. So while any thread of
    // the node waits, a message is seen when it comes.
    std::mutex mutex_;
    std::vector<Waiter*> waiters_;
    Waiter* at_it_ = nullptr;         ///< the waiter that receives, if a waiter does
    std::atomic<bool> taken_{false};  ///< a thread receives; read without the lock as a hint
    std::atomic<std::thread::id> receiver_{};
};

}  // namespace heddle::native
