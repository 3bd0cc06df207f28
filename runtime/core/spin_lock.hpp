// A lock for sections of a few instructions that neither charge, send nor block, so in simulation no caller
// ever waits for it. A caller that waits long yields its core, because the holder may have lost its own.
#pragma once

#include <atomic>

#include "base/relax.hpp"

namespace heddle::runtime {

class SpinLock {
public:
    void lock() {
        if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
            wait();
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

    /// Holds the lock for a scope.
    class Guard {
    public:
        explicit Guard(SpinLock& lock) : lock_(&lock) { lock.lock(); }
        /// Only if `shared`: else one thread alone uses what the lock is over, and takes it never.
        Guard(SpinLock& lock, bool shared) : lock_(shared ? &lock : nullptr) {
            if (lock_) lock_->lock();
        }
        ~Guard() {
            if (lock_) lock_->unlock();
        }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        SpinLock* lock_;
    };

private:
    /// Apart, so that the callers have three instructions of this in line.
    [[gnu::noinline, gnu::cold]] void wait() {
        do {
            for (Patience patience; taken_.load(std::memory_order_relaxed); patience.wait()) {
            }
        } while (taken_.exchange(true, std::memory_order_acquire));
    }

    std::atomic<bool> taken_{false};
};

}  // namespace heddle::runtime
