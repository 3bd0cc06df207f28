// Counts bytes sent to a node and handled there; a worker waits while too many are under way.
#include "runtime/native/flow.hpp"

#include <algorithm>
#include <utility>

namespace heddle::native {

Flow::Flow(std::uint64_t window, std::function<void(std::uint64_t)> post_mark)
    : window_(window), post_mark_(std::move(post_mark)) {}

void Flow::before(std::uint64_t bytes, Sender sender) {
    if (add(bytes, sender)) return;
    std::unique_lock lock(mutex_);
    while (!add_or_mark(lock, bytes, sender)) changed_.wait(lock);
}

bool Flow::try_before(std::uint64_t bytes, Sender sender) {
    if (add(bytes, sender)) return true;
    std::unique_lock lock(mutex_);
    return add_or_mark(lock, bytes, sender);
}

/// Without the lock: `handled_` only grows, so an old value of it lets no thread send more than it may. False
/// if a worker has to wait.
bool Flow::add(std::uint64_t bytes, Sender sender) {
    std::uint64_t sent = sent_.load(std::memory_order_relaxed);
    do {
        const std::uint64_t handled = handled_.load(std::memory_order_relaxed);
        const bool fits = sent == handled || sent - handled + bytes <= window_;
        if (sender == Sender::worker && !fits && !open_.load(std::memory_order_relaxed)) return false;
    } while (!sent_.compare_exchange_weak(sent, sent + bytes, std::memory_order_relaxed));
    return true;
}

/// False if a worker has to wait. A mark is under way then.
bool Flow::add_or_mark(std::unique_lock<std::mutex>& lock, std::uint64_t bytes, Sender sender) {
    while (!add(bytes, sender)) {
        if (marked_ > handled_) return false;
        // Without a mark under way, no answer would tell the worker that there is room.
        mark(lock);
    }
    return true;
}

void Flow::after() {
    if (!mark_is_due()) return;
    std::unique_lock lock(mutex_);
    if (mark_is_due()) mark(lock);
}

void Flow::mark(std::unique_lock<std::mutex>& lock) {
    const std::uint64_t number = sent_;
    marked_ = number;
    lock.unlock();
    post_mark_(number);
    lock.lock();
}

void Flow::handled(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    // Marks of several threads may change places; and no number from outside is believed too far.
    const std::uint64_t before = handled_;
    handled_ = std::clamp(number, before, std::max<std::uint64_t>(before, sent_));
    changed_.notify_all();
}

void Flow::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

}  // namespace heddle::native
