// Starts a thread for a call if no idle one is there for it.
#include "runtime/native/io_threads.hpp"

#include <utility>

namespace heddle::native {

IoThreads::~IoThreads() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void IoThreads::run(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (calls_.size() > idle_ && threads_.size() < most) {
        threads_.emplace_back([this] { serve(); });
    } else {
        changed_.notify_one();
    }
}

void IoThreads::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return ending_ || !calls_.empty(); });
        --idle_;
        if (calls_.empty()) return;
        const std::function<void()> call = std::move(calls_.front());
        calls_.pop_front();
        lock.unlock();
        call();
        lock.lock();
    }
}

}  // namespace heddle::native
