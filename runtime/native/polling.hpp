// The ways in which a receiver waits. It blocks, it polls without pause, or it polls for a short while after
// a message and then blocks. EARTH had the first two: its run-time system 1.2 polls, 2.0 blocks (Tremblay et
// al.).
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/relax.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

enum class Receive : std::uint8_t {
    automatic,  ///< looks for a short while after something has come, if a core is free
    block,
    poll  ///< looks all the time: takes a core for itself
};

/// How long threads that have nothing to do look again and again before they sleep.
struct WaitTimes {
    std::chrono::nanoseconds worker = std::chrono::microseconds(5);          ///< in a run of several nodes
    std::chrono::nanoseconds worker_alone = std::chrono::microseconds(200);  ///< in a run of one
    std::chrono::nanoseconds receiver = std::chrono::microseconds(50);       ///< with Receive::automatic
    /// The sender naps so long between the writes of a stream of messages. Meanwhile messages gather, and no
    /// thread has to wake it.
    std::chrono::nanoseconds sender = std::chrono::microseconds(20);
};

class Polling {
public:
    /// `core_is_free`: whether a core of the node has nothing better to do just now.
    Polling(Receive how, std::chrono::nanoseconds for_long, std::function<bool()> core_is_free)
        : how_(how), for_long_(for_long), core_is_free_(std::move(core_is_free)) {}

    bool never() const { return how_ == Receive::block; }

    /// Just before a look. What that finds may take long to handle, and then no other process had the core.
    void look() {
        if (judges()) looked_ = Clock::now();
    }

    /// The look has found something.
    void found() {
        if (judges()) {
            if (looked_ > end_ + for_long_) {
                crowded(looked_);
            } else {
                truce_ = truce_min;
            }
        }
        looks_ = 0;
    }

    /// The thread does something else.
    void pause() { looks_ = 0; }

    /// Nothing has come. True: look again, false: block. Gives other threads the core after that many looks,
    /// a power of two.
    bool again(std::uint32_t looks_between_yields = 16) {
        if (never()) return false;
        if (how_ == Receive::automatic && (!core_is_free_ || !core_is_free_())) {
            looks_ = 0;
            return false;
        }
        const bool polite = (++looks_ & (looks_between_yields - 1)) == 0;
        if (how_ == Receive::automatic) {
            if (looks_ == 1 || polite) {
                const Deadline now = Clock::now();
                if (looks_ == 1) end_ = now + for_long_;
                if (now > end_ + for_long_) crowded(now);
                if (now >= end_ || now < truce_end_) {
                    looks_ = 0;
                    return false;
                }
            }
        }
        if (polite) {
            sched_yield();
        } else if (looks_ > eager_looks) {
            relax();
        }
        return true;
    }

private:
    /// Answers often come so soon that a pause between two looks, up to 50 ns, would be noticed.
    static constexpr std::uint32_t eager_looks = 256;
    static constexpr std::chrono::milliseconds truce_min{10}, truce_max{1000};

    /// Whether it may have looked for too long.
    bool judges() const { return looks_ != 0 && how_ == Receive::automatic; }

    /// Looking took much longer than it may: another process had the core. When something comes, a thread
    /// that blocks gets a core at once; a thread that has used up its time by looking does not.
    void crowded(Deadline now) {
        truce_end_ = now + truce_;
        truce_ = std::min(2 * truce_, truce_max);
    }

    Receive how_;
    std::chrono::nanoseconds for_long_;
    std::function<bool()> core_is_free_;
    std::uint32_t looks_ = 0;
    Deadline looked_;
    Deadline end_;
    Deadline truce_end_;  ///< until then it blocks
    std::chrono::milliseconds truce_ = truce_min;
};

}  // namespace heddle::native
