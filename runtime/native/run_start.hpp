// The moment at which a native run begins on this node, and the messages that other nodes send before this
// node has heard of it.
#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/native/frame.hpp"

namespace heddle::native {

/// Invariant: one thread at a time calls `holds` and `begin`: the one that receives. On node 0 the thread
/// that starts the run calls `begin` before it tells another node to start, so no message can come before.
class RunStart {
public:
    /// As Transport::Events::deliver.
    using Deliver = std::function<void(NodeId from, std::span<const std::byte> message, runtime::Body body,
                                       std::uint64_t in_room)>;

    /// True: the run has not begun here, and `begin` will deliver this message.
    bool holds(NodeId from, std::span<const std::byte> message, runtime::Body& body, std::uint64_t in_room) {
        if (zero_.load(std::memory_order_acquire) != unset) return false;
        early_.push_back({from, runtime::Bytes(message.begin(), message.end()), std::move(body), in_room});
        return true;
    }

    /// The run begins at `zero`. Delivers what came before, in the order in which it came.
    void begin(Clock::time_point zero, const Deliver& deliver) {
        zero_.store(zero.time_since_epoch().count(), std::memory_order_release);
        for (Early& early : std::exchange(early_, {}))
            deliver(early.from, early.message, std::move(early.body), early.in_room);
    }

    /// After `begin`.
    Clock::time_point zero() const {
        return Clock::time_point(Clock::duration(zero_.load(std::memory_order_relaxed)));
    }

    /// Rounded up.
    Clock::time_point clock_time(Time since_zero) const {
        return zero() + std::chrono::ceil<Clock::duration>(since_zero);
    }

    /// The same, and never beyond what the clock can say.
    Deadline deadline(Time since_zero) const {
        return since_zero == never ? Deadline::max() : clock_time(since_zero);
    }

    /// Since `zero`; zero before it.
    Time now() const {
        if (zero_.load(std::memory_order_relaxed) == unset) return Time::zero();
        return std::max<Time>(Clock::now() - zero(), Time::zero());
    }

    /// A few milliseconds earlier at most, and much faster.
    Time coarse_now() const {
        if (zero_.load(std::memory_order_relaxed) == unset) return Time::zero();
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
        const auto since_epoch = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
        return std::max<Time>(since_epoch - zero().time_since_epoch(), Time::zero());
    }

private:
    struct Early {
        NodeId from;
        runtime::Bytes message;
        runtime::Body body;
        std::uint64_t in_room;
    };

    static constexpr Clock::rep unset = std::numeric_limits<Clock::rep>::min();
    std::atomic<Clock::rep> zero_{unset};
    std::vector<Early> early_;
};

}  // namespace heddle::native
