// Counts bytes sent to a node and handled there; a worker waits while too many are under way.
#include "runtime/native/flow.hpp"

#include <algorithm>
#include <utility>

namespace heddle::native {

Flow::Flow(std::uint64_t window, std::function<void(std::uint64_t)> post_mark)
    : window_(window), post_mark_(std::move(post_mark)) {}

void Flow::before(std::uint64_t bytes, Sender sender) {
    std::unique_lock lock(mutex_);
    while (!count(lock, bytes, sender)) changed_.wait(lock);
}

bool Flow::try_before(std::uint64_t bytes, Sender sender) {
    std::unique_lock lock(mutex_);
    return count(lock, bytes, sender);
}

/// False if a worker has to wait. A mark is under way then.
bool Flow::count(std::unique_lock<std::mutex>& lock, std::uint64_t bytes, Sender sender) {
    const auto fits = [&] { return open_ || sent_ == handled_ || sent_ - handled_ + bytes <= window_; };
    while (sender == Sender::worker && !fits()) {
        if (marked_ > handled_) return false;
        // Without a mark under way, no answer would tell the worker that there is room.
        mark(lock);
    }
    sent_ += bytes;
    return true;
}

void Flow::after() {
    std::unique_lock lock(mutex_);
    if (sent_ - marked_ > window_ / 4) mark(lock);
}

void Flow::mark(std::unique_lock<std::mutex>& lock) {
    marked_ = sent_;
    const std::uint64_t number = marked_;
    lock.unlock();
    post_mark_(number);
    lock.lock();
}

void Flow::handled(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    // Marks of several threads may change places; and no number from outside is believed too far.
    handled_ = std::clamp(number, handled_, std::max(handled_, sent_));
    changed_.notify_all();
}

void Flow::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

}  // namespace heddle::native
