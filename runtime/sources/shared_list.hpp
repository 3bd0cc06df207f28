// A list of a node's tasks: any worker, or the receiver, adds to it; workers remove the latest element, one
// worker at a time. Adding is lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/core/spin_lock.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// T has a member `T* next`. The list owns what is in it.
///
/// Invariant: `put_` is only ever taken whole (exchange), so a pointer that `put` compares with cannot have
/// left and come back with another successor. Each item passes from `put_` to `taken_` once, so `n` puts and
/// takes need O(n) steps.
/// A taker finds the list empty only if it is: items leave `put_` under the lock, so no other taker misses
/// them on their way to `taken_`.
template <class T>
class SharedList {
public:
    /// `size` must outlive the list. It is never less than what is in the list.
    explicit SharedList(WaitingCount& size) : size_(size) {}
    SharedList(const SharedList&) = delete;
    SharedList& operator=(const SharedList&) = delete;
    ~SharedList() {
        for (T* chain : {put_.exchange(nullptr), taken_})
            while (chain) delete std::exchange(chain, static_cast<T*>(chain->next));
    }

    void put(std::unique_ptr<T> item) {
        size_.add();
        T* const added = item.release();
        T* head = put_.load(std::memory_order_relaxed);
        do added->next = head;
        while (
            !put_.compare_exchange_weak(head, added, std::memory_order_seq_cst, std::memory_order_relaxed));
    }

    /// One item, or null if there is none.
    std::unique_ptr<T> take() {
        if (size() == 0) return nullptr;
        const SpinLock::Guard guard(lock_);
        if (put_.load(std::memory_order_relaxed)) move_put();
        if (!taken_) return nullptr;
        std::unique_ptr<T> item(std::exchange(taken_, static_cast<T*>(taken_->next)));
        item->next = nullptr;
        size_.subtract();
        return item;
    }

    std::uint32_t size() const { return size_.get(); }

private:
    /// Moves everything that was put in front of what takers have.
    void move_put() {
        T* const chain = put_.exchange(nullptr, std::memory_order_seq_cst);
        T* last = chain;
        while (last->next) last = static_cast<T*>(last->next);
        last->next = taken_;
        taken_ = chain;
    }

    std::atomic<T*> put_{nullptr};
    WaitingCount& size_;
    SpinLock lock_;  ///< over `taken_`
    T* taken_ = nullptr;
};

}  // namespace heddle::runtime
