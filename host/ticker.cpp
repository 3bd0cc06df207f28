// Runs a thread that calls a function at regular intervals, for progress on the terminal.
#include "host/ticker.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace heddle::host {

struct Ticker::State {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopping = false;
    std::thread thread;

    void run(std::chrono::milliseconds first, std::chrono::milliseconds every,
             const std::function<void()>& tick) {
        auto next = std::chrono::steady_clock::now() + first;
        std::unique_lock lock(mutex);
        while (!changed.wait_until(lock, next, [this] { return stopping; })) {
            lock.unlock();
            tick();
            lock.lock();
            // From the end of the call: one that takes long must not be followed by a burst.
            next = std::max(next + every, std::chrono::steady_clock::now());
        }
    }
};

Ticker::Ticker(std::chrono::milliseconds first, std::chrono::milliseconds every, std::function<void()> tick)
    : state_(std::make_unique<State>()) {
    state_->thread = std::thread(
        [state = state_.get(), first, every, tick = std::move(tick)] { state->run(first, every, tick); });
}

Ticker::~Ticker() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        state_->changed.notify_one();
    }
    state_->thread.join();
}

}  // namespace heddle::host
