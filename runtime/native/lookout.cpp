// Lets one waiting worker receive for its whole node; it wakes the worker that a message concerns.
#include "runtime/native/lookout.hpp"

#include <utility>

namespace heddle::native {

Lookout::Lookout(std::function<bool(Deadline)> look, std::function<void()> interrupt)
    : look_(std::move(look)), interrupt_(std::move(interrupt)) {}

bool Lookout::poll() {
    if (taken_.load(std::memory_order_relaxed)) return false;  // the thread that receives will see it
    std::unique_lock lock(mutex_);
    if (taken_.load(std::memory_order_relaxed)) return false;
    const bool any = look(lock, Deadline::min());
    hand_over();
    return any;
}

void Lookout::wait(Deadline deadline, Concern concern, const std::function<bool()>& done) {
    std::unique_lock lock(mutex_);
    if (done()) return;
    Waiter self{concern};
    waiters_.push_back(&self);
    do {
        if (!taken_.load(std::memory_order_relaxed)) {
            at_it_ = &self;
            look(lock, deadline);
            at_it_ = nullptr;
        } else if (deadline == Deadline::max()) {
            self.woken.wait(lock);
        } else {
            self.woken.wait_until(lock, deadline);
        }
    } while (!done() && Clock::now() < deadline);
    std::erase(waiters_, &self);
    hand_over();
}

/// Receives, without the lock meanwhile.
bool Lookout::look(std::unique_lock<std::mutex>& lock, Deadline until) {
    taken_.store(true, std::memory_order_relaxed);
    lock.unlock();
    receiver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const bool any = look_(until);
    receiver_.store({}, std::memory_order_relaxed);
    lock.lock();
    taken_.store(false, std::memory_order_relaxed);
    return any;
}

/// If no thread receives, wakes a waiter to do so. Under the lock.
void Lookout::hand_over() {
    if (!taken_.load(std::memory_order_relaxed) && !waiters_.empty()) waiters_.front()->woken.notify_one();
}

void Lookout::wake(Concern concern) {
    const std::lock_guard lock(mutex_);
    for (Waiter* waiter : waiters_) {
        if (waiter->concern != concern) continue;
        if (waiter != at_it_) {
            waiter->woken.notify_one();
        } else if (!is_receiver()) {  // a receiver asks again after each look
            interrupt_();
        }
    }
}

}  // namespace heddle::native
