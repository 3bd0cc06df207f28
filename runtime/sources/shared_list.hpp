// A list of a node's tasks: any worker, or the receiver, adds to it; workers remove the latest element, one
// worker at a time, and now and then the oldest. Adding is lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/core/spin_lock.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// T has members `T* next` and `T* before`. The list owns what is in it.
///
/// Invariant: among `takes_max` takes in a row one gives the oldest item. So no item stays for ever while
/// later ones come.
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
        if (taken_ == oldest_) takes_ = 0;
        std::unique_ptr<T> item(++takes_ % takes_max == 0 ? take_oldest() : take_latest());
        size_.subtract();
        return item;
    }

    std::uint32_t size() const { return size_.get(); }

private:
    static constexpr std::uint32_t takes_max = 256;

    /// Moves everything that was put in front of what takers have.
    void move_put() {
        T* const chain = put_.exchange(nullptr, std::memory_order_seq_cst);
        T* last = chain;
        while (T* const next = static_cast<T*>(last->next)) {
            next->before = last;
            last = next;
        }
        last->next = taken_;
        link_front(last);
        taken_ = chain;
    }

    /// `before` comes before what takers have.
    void link_front(T* before) {
        if (taken_) {
            taken_->before = before;
        } else {
            oldest_ = before;
        }
    }

    T* take_latest() {
        T* const item = taken_;
        taken_ = static_cast<T*>(item->next);
        link_front(nullptr);
        item->next = nullptr;
        return item;
    }
    T* take_oldest() {
        T* const item = oldest_;
        oldest_ = static_cast<T*>(item->before);
        item->before = nullptr;
        if (oldest_) {
            oldest_->next = nullptr;
        } else {
            taken_ = nullptr;
        }
        return item;
    }

    std::atomic<T*> put_{nullptr};
    WaitingCount& size_;
    SpinLock lock_;            ///< over what follows
    T* taken_ = nullptr;       ///< the latest of what takers have
    T* oldest_ = nullptr;      ///< of these
    std::uint32_t takes_ = 0;  ///< since there was one alone
};

}  // namespace heddle::runtime
