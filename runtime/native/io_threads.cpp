// Runs blocking calls, such as reads of a disk, on threads of their own, and keeps threads for the next call.
#include "runtime/native/io_threads.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "host/machine.hpp"
#include "runtime/native/thread_priority.hpp"

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
        try {
            threads_.emplace_back([this] { serve(); });
            return;
        } catch (const std::system_error& error) {
            if (threads_.empty()) {
                calls_.pop_back();
                throw Error(fmt::format("no thread for a call that may block: {}", error.code().message()),
                            "raise the limits of processes and memory (ulimit -u, ulimit -v)");
            }
            // Those that there are come to it later.
        }
    }
    changed_.notify_one();
}

// The thread that starts this one is a worker, which has one core, or a receiver, which runs before others.
void IoThreads::serve() {
    (void)host::bind_to_all_cores();  // one that stays where it is costs speed only
    run_like_first_thread();
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
