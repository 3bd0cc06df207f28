// Queues a thread's exclusive fibers (EARTH): one runs at a time, in the order in which they were enabled.
#pragma once

#include <deque>
#include <optional>

#include "model/earth/frame.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::model::earth {

class ExclusiveFibers {
public:
    /// True: the fiber may be scheduled now, and `next` must follow when it has ended. False: it waits.
    bool begin_or_wait(const ScheduledFiber& fiber) {
        const runtime::SpinLock::Guard guard(lock_);
        if (!busy_) return busy_ = true;
        waiting_.push_back(fiber);
        return false;
    }

    /// One has ended. Returns the next, which must be scheduled.
    std::optional<ScheduledFiber> next() {
        const runtime::SpinLock::Guard guard(lock_);
        if (waiting_.empty()) {
            busy_ = false;
            return std::nullopt;
        }
        const ScheduledFiber first = waiting_.front();
        waiting_.pop_front();
        return first;
    }

private:
    runtime::SpinLock lock_;
    bool busy_ = false;
    std::deque<ScheduledFiber> waiting_;
};

}  // namespace heddle::model::earth
