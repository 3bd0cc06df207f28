#include "runtime/native/flow.hpp"

#include <algorithm>
#include <utility>

namespace heddle::native {

Flow::Flow(std::uint64_t window, std::function<void(std::uint64_t)> post_mark)
    : window_(window), post_mark_(std::move(post_mark)) {}

void Flow::before(std::uint64_t bytes, Sender sender) {
    std::unique_lock lock(mutex_);
    const auto fits = [&] { return open_ || sent_ == handled_ || sent_ - handled_ + bytes <= window_; };
    while (sender == Sender::worker && !fits()) {
        // Without a mark under way nobody would tell when there is room.
        if (marked_ <= handled_) {
            mark(lock);
        } else {
            changed_.wait(lock);
        }
    }
    sent_ += bytes;
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
