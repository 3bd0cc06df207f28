// The events that code can wait for, and the waiters. A task on its worker's stack waits in Worker::wait,
// where the worker runs other tasks meanwhile. A strand waits in Strand::wait, and its worker goes on without
// it. A model whose tasks never wait, but become ready, leaves a function to be called.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/ids.hpp"

namespace heddle::runtime {

struct Context;
class Node;
class Strand;

/// What to wake, in a list of those that wait for one thing: a strand, a worker whose task waits, or a
/// function to call.
class Waiter {
public:
    /// Called once, on the context that does what is waited for. The waiter is its to delete.
    using Code = void (*)(Waiter& waiter, Node& node, Context& caller);

    explicit Waiter(Strand& strand) : strand_(&strand) {}
    explicit Waiter(CoreId worker) : worker_(worker) {}
    explicit Waiter(Code code) : code_(code) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    /// Makes the strand ready, wakes the worker if it sleeps, or calls the function. `caller`: a worker of
    /// the node, or its receiver. After the call the waiter may be gone.
    void wake(Node& node, Context& caller);

    /// Whether `wake` was called. Until then the waiter is in a list, even if what it waits for is done.
    bool woken() const { return woken_.load(std::memory_order_seq_cst); }

private:
    friend class Event;

    Strand* strand_ = nullptr;
    Code code_ = nullptr;
    CoreId worker_ = 0;
    std::atomic<bool> woken_{false};  ///< of a worker
    Waiter* next_ = nullptr;
};

/// Something that can be waited for: the result of a task, a message, a barrier. Its owner keeps it until the
/// wait has ended.
class Waitable {
public:
    virtual ~Waitable() = default;

    /// Whether a wait would end at once. From then on it stays true.
    virtual bool done() const = 0;

    /// `waiter` will be woken when this is done; until then it stays where it is. False if this is done
    /// already: then the waiter is not woken.
    virtual bool await(Waiter& waiter) = 0;

    /// The program has ended the run, so this may never be done: a waiter that can neither go on nor be
    /// unwound asks to be taken back. True if it was: then it is not woken. False if this is done, or knows
    /// no way.
    virtual bool withdraw(Waiter& /*waiter*/) { return false; }

    /// What it is, for a message about a waiter: "a message with tag 3".
    virtual std::string what() const = 0;

protected:
    Waitable() = default;
    Waitable(const Waitable&) = default;
    Waitable& operator=(const Waitable&) = default;
};

/// Happens once. Any context of the node may complete it, and any number of waiters may wait.
class Event : public Waitable {
public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    bool done() const final { return state_.load(std::memory_order_seq_cst) == is_done; }
    bool await(Waiter& waiter) final {
        std::uintptr_t latest = state_.load(std::memory_order_acquire);
        if (one_thread_) {
            if (latest == is_done) return false;
            waiter.next_ = reinterpret_cast<Waiter*>(latest);
            state_.store(reinterpret_cast<std::uintptr_t>(&waiter), std::memory_order_relaxed);
            return true;
        }
        do {
            if (latest == is_done) return false;
            waiter.next_ = reinterpret_cast<Waiter*>(latest);
        } while (!state_.compare_exchange_weak(latest, reinterpret_cast<std::uintptr_t>(&waiter),
                                               std::memory_order_seq_cst, std::memory_order_acquire));
        return true;
    }
    std::string what() const override { return "an event"; }

    /// Wakes all that wait, in the order in which they came. They see all that the caller wrote before. After
    /// the call the event may be gone.
    void complete(Node& node, Context& caller) {
        const std::uintptr_t latest = take_waiters();
        if (latest == nothing || latest == is_done) return;
        auto* const waiter = reinterpret_cast<Waiter*>(latest);
        if (!waiter->next_) [[likely]]
            return waiter->wake(node, caller);
        wake_all(waiter, node, caller);
    }

    /// It may happen once more. Called while no context waits for it or completes it.
    void reset() { state_.store(nothing, std::memory_order_relaxed); }

protected:
    /// Before its first use: it has happened already.
    void set_done() { state_.store(is_done, std::memory_order_relaxed); }

    /// Before its first use: one thread alone waits for it and completes it. So no other one comes between a
    /// look at its state and a change.
    void set_one_thread(bool one_thread) { one_thread_ = one_thread; }

private:
    std::uintptr_t take_waiters() {
        if (!one_thread_) return state_.exchange(is_done, std::memory_order_seq_cst);
        const std::uintptr_t latest = state_.load(std::memory_order_relaxed);
        state_.store(is_done, std::memory_order_relaxed);
        return latest;
    }
    static void wake_all(Waiter* latest, Node& node, Context& caller);

    static constexpr std::uintptr_t nothing = 0;
    static constexpr std::uintptr_t is_done = 1;

    std::atomic<std::uintptr_t> state_{nothing};  ///< or the waiter that came last
    bool one_thread_ = false;
};

}  // namespace heddle::runtime
