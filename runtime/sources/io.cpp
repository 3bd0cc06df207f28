// Starts blocking calls of the system, and keeps the events of those that have ended until a worker completes
// them.
#include "runtime/sources/io.hpp"

#include "base/assert.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

void IoCalls::start(Context& caller, double bytes, std::function<void()> code, Event& event) {
    HEDDLE_ASSERT(bytes >= 0);
    begin();
    try {
        caller.backend->io(caller, bytes, std::move(code),
                           [this, &event](Context& after) { ended(after, event); });
    } catch (...) {
        cancel();
        throw;
    }
}

void IoCalls::begin() {
    waiting_.add();
    node_.outside().fetch_add(1, std::memory_order_seq_cst);
}

void IoCalls::cancel() {
    node_.outside().fetch_sub(1, std::memory_order_seq_cst);
    waiting_.subtract(1);
}

/// Not on a worker: it only leaves the event, and wakes a worker. If the run has ended early, all of them
/// wait for this.
void IoCalls::ended(Context& after, Event& event) {
    {
        const SpinLock::Guard guard(lock_);
        ended_.push_back(&event);
    }
    ended_count_.fetch_add(1, std::memory_order_seq_cst);
    node_.outside().fetch_sub(1, std::memory_order_seq_cst);
    if (node_.stopping()) {
        node_.wake_all(after);
    } else {
        node_.wake_one(after);
    }
}

bool IoCalls::run(Worker& worker, Slot* /*head*/) {
    if (!waits_for(worker)) return false;
    worker.show_active();
    std::vector<Event*> ended;
    {
        const SpinLock::Guard guard(lock_);
        ended.swap(ended_);
    }
    const auto count = static_cast<std::uint32_t>(ended.size());
    ended_count_.fetch_sub(count, std::memory_order_seq_cst);
    waiting_.subtract(count);
    for (Event* const event : ended) event->complete(node_, worker);
    worker.show_passive();
    return count != 0;
}

}  // namespace heddle::runtime
