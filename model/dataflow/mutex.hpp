// Synchronizes the threads of a node (the KAAPI paper, section 3.1): a mutex, a condition, and a condition
// with a value. A thread waits until that value is, or is not, a certain one. While a thread waits, its
// worker runs other threads.
#pragma once

#include <deque>
#include <string>

#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::dataflow {

/// Those that wait for one thing, the first first. Each waits for an event of its own, on its stack.
class WaitingLine {
public:
    class Place final : public runtime::Event {
    public:
        explicit Place(const char* thing) : thing_(thing) {}
        std::string what() const override { return thing_; }

    private:
        const char* thing_;
    };

    bool empty() const { return places_.empty(); }
    void join(Place& place) { places_.push_back(&place); }
    Place& leave() {
        Place& first = *places_.front();
        places_.pop_front();
        return first;
    }

private:
    std::deque<Place*> places_;
};

/// One thread has it at a time, in the order in which they came.
class Mutex {
public:
    void lock(const runtime::Caller& caller) {
        WaitingLine::Place place("a mutex");
        {
            const runtime::SpinLock::Guard guard(lock_);
            if (!std::exchange(held_, true)) return;
            line_.join(place);
        }
        caller.wait(place);
    }
    bool try_lock() {
        const runtime::SpinLock::Guard guard(lock_);
        return !std::exchange(held_, true);
    }
    /// The caller must hold it.
    void unlock(const runtime::Caller& caller) {
        WaitingLine::Place* next = nullptr;
        {
            const runtime::SpinLock::Guard guard(lock_);
            held_ = !line_.empty();
            if (held_) next = &line_.leave();
        }
        if (next) next->complete(caller.node(), caller.worker());
    }

private:
    runtime::SpinLock lock_;
    bool held_ = false;
    WaitingLine line_;
};

/// Threads wait for a signal, with a mutex given up meanwhile. A signal without a waiter is lost.
class Condition {
public:
    void wait(const runtime::Caller& caller, Mutex& mutex) {
        WaitingLine::Place place("a condition");
        {
            const runtime::SpinLock::Guard guard(lock_);
            line_.join(place);
        }
        mutex.unlock(caller);
        caller.wait(place);
        mutex.lock(caller);
    }
    /// Wakes the thread that has waited longest.
    void signal(const runtime::Caller& caller) { wake(caller, 1); }
    void broadcast(const runtime::Caller& caller) { wake(caller, ~std::size_t{0}); }

private:
    void wake(const runtime::Caller& caller, std::size_t most) {
        WaitingLine woken;
        {
            const runtime::SpinLock::Guard guard(lock_);
            for (; most != 0 && !line_.empty(); --most) woken.join(line_.leave());
        }
        while (!woken.empty()) woken.leave().complete(caller.node(), caller.worker());
    }

    runtime::SpinLock lock_;
    WaitingLine line_;
};

/// A condition whose signals are values: it has the value that was signaled last.
class ValueCondition {
public:
    explicit ValueCondition(long value = 0) : value_(value) {}

    /// Returns once the value is `value`: at once if it is, or when that is signaled.
    void wait_equal(const runtime::Caller& caller, long value) { wait(caller, value, true); }
    /// Returns once it is another one.
    void wait_not_equal(const runtime::Caller& caller, long value) { wait(caller, value, false); }

    /// Wakes all for which this value is what they wait for.
    void signal(const runtime::Caller& caller, long value) {
        WaitingLine woken;
        {
            const runtime::SpinLock::Guard guard(lock_);
            value_ = value;
            std::erase_if(waiters_, [&](const Waiter& waiter) {
                const bool done = (waiter.value == value) == waiter.equal;
                if (done) woken.join(*waiter.place);
                return done;
            });
        }
        while (!woken.empty()) woken.leave().complete(caller.node(), caller.worker());
    }

private:
    struct Waiter {
        WaitingLine::Place* place;
        long value;
        bool equal;
    };

    void wait(const runtime::Caller& caller, long value, bool equal) {
        WaitingLine::Place place("a value that is signaled");
        {
            const runtime::SpinLock::Guard guard(lock_);
            if ((value_ == value) == equal) return;
            waiters_.push_back({&place, value, equal});
        }
        caller.wait(place);
    }

    runtime::SpinLock lock_;
    long value_;
    std::deque<Waiter> waiters_;
};

}  // namespace heddle::dataflow
