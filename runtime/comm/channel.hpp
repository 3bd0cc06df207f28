// A queue of values between the strands (user-level threads) and tasks of one node. Values are moved, never
// copied. endpoint.hpp has messages between nodes.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "runtime/core/caller.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/wait.hpp"

namespace heddle::runtime {

/// Any number of senders and receivers. Values come out in the order in which they went in, and receivers get
/// them in the order in which they came. It must outlive all waits at it.
template <class T>
class Channel {
public:
    /// Room for `capacity` values; with 0 a send waits for a receive.
    explicit Channel(std::size_t capacity) : capacity_(capacity) {}
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// Waits for room.
    void send(Caller caller, T value) {
        Sending sending(std::move(value));
        Receiving* receiver = nullptr;
        {
            const SpinLock::Guard guard(lock_);
            receiver = receivers_.take();
            if (!receiver && values_.size() < capacity_) {
                values_.push_back(std::move(sending.value));
                return;
            }
            if (!receiver) senders_.put(sending);
        }
        if (!receiver) return caller.wait(sending);
        receiver->value.emplace(std::move(sending.value));
        receiver->complete(caller.node(), caller.worker());
    }

    /// Waits for a value.
    T receive(Caller caller) {
        Receiving receiving;
        Sending* sender = nullptr;
        {
            const SpinLock::Guard guard(lock_);
            if (!values_.empty()) {
                receiving.value.emplace(std::move(values_.front()));
                values_.pop_front();
                sender = senders_.take();
                if (sender) values_.push_back(std::move(sender->value));
            } else if ((sender = senders_.take())) {
                receiving.value.emplace(std::move(sender->value));
            } else {
                receivers_.put(receiving);
            }
        }
        if (sender) sender->complete(caller.node(), caller.worker());
        // A value that is here was put under the lock; one that comes is seen after the wait.
        if (!receiving.waits) return *std::move(receiving.value);
        caller.wait(receiving);
        return *std::move(receiving.value);
    }

    /// Values that no receiver has yet; it may be old.
    std::size_t size() {
        const SpinLock::Guard guard(lock_);
        return values_.size();
    }

private:
    struct Sending final : Event {
        explicit Sending(T&& sent) : value(std::move(sent)) {}
        std::string what() const override { return "room in a channel"; }

        T value;
        Sending* next = nullptr;
        bool waits = false;
    };
    struct Receiving final : Event {
        std::string what() const override { return "a value from a channel"; }

        std::optional<T> value;
        Receiving* next = nullptr;
        bool waits = false;  ///< written by its owner, under the lock
    };

    /// Those that wait, the first in front.
    template <class Waiting>
    class Line {
    public:
        void put(Waiting& waiting) {
            waiting.waits = true;
            (first_ ? last_->next : first_) = &waiting;
            last_ = &waiting;
        }
        Waiting* take() {
            Waiting* const first = first_;
            if (first) first_ = first->next;
            return first;
        }

    private:
        Waiting* first_ = nullptr;
        Waiting* last_ = nullptr;
    };

    std::size_t capacity_;
    SpinLock lock_;  ///< over all below
    std::deque<T> values_;
    Line<Sending> senders_;
    Line<Receiving> receivers_;
};

}  // namespace heddle::runtime
