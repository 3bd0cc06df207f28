// Strands that are used again and again. Each context has a pool, where taking and giving back are plain
// memory operations. A strand goes to the pool of the context that saw it end, which may be another one than
// started it. So a pool that has many gives some to the node, and an empty one takes some from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>

#include "runtime/core/spin_lock.hpp"
#include "runtime/strands/strand.hpp"

namespace heddle::runtime {

/// The strands that the pools of a node can spare. For all contexts.
class SpareStrands {
public:
    /// Strands move in chains of so many.
    static constexpr std::uint32_t chain = 32;

    /// `first` to `last` are linked, `chain` of them.
    void put(Strand& first, Strand& last) {
        const SpinLock::Guard guard(lock_);
        last.next_ = free_.load(std::memory_order_relaxed);
        free_.store(&first, std::memory_order_relaxed);
    }
    /// A chain. Null: there is none, or another context is about to put one.
    Strand* take() {
        // Most contexts that find none make many strands.
        if (!free_.load(std::memory_order_relaxed)) return nullptr;
        const SpinLock::Guard guard(lock_);
        Strand* const first = free_.load(std::memory_order_relaxed);
        if (!first) return nullptr;
        Strand* last = first;
        for (std::uint32_t i = 1; i < chain; ++i) last = last->next_;
        free_.store(std::exchange(last->next_, nullptr), std::memory_order_relaxed);
        return first;
    }

private:
    SpinLock lock_;
    std::atomic<Strand*> free_{nullptr};  ///< written under the lock
};

/// The strands of one context: those that it has made, and free ones that any context of the node has made.
class StrandPool {
public:
    explicit StrandPool(SpareStrands& spare) : spare_(spare) {}

    Strand& take() {
        if (!free_ && !take_spare()) return made_.emplace_back();
        --count_;
        return *std::exchange(free_, free_->next_);
    }
    void give_back(Strand& strand) {
        strand.body_ = nullptr;
        strand.stack_ = nullptr;
        strand.runner_ = nullptr;
        strand.next_ = free_;
        free_ = &strand;
        if (++count_ > 2 * SpareStrands::chain) [[unlikely]]
            give_spare();
    }

private:
    bool take_spare() {
        free_ = spare_.take();
        if (!free_) return false;
        count_ = SpareStrands::chain;
        return true;
    }
    void give_spare() {
        Strand* last = free_;
        for (std::uint32_t i = 1; i < SpareStrands::chain; ++i) last = last->next_;
        Strand& first = *std::exchange(free_, last->next_);
        count_ -= SpareStrands::chain;
        spare_.put(first, *last);
    }

    SpareStrands& spare_;
    std::deque<Strand> made_;  // what is in it does not move
    Strand* free_ = nullptr;
    std::uint32_t count_ = 0;  ///< of `free_`
};

}  // namespace heddle::runtime
