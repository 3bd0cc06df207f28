// A list of things that any context of a node may put into and any worker may take from, one at a time, in no
// particular order. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace heddle::runtime {

/// T has a member `T* next`. The list owns what is in it.
///
/// Invariant: everything hangs off one pointer, which is only ever taken whole (exchange), so a pointer that
/// `put` compares with cannot have left and come back with another successor.
template <class T>
class SharedList {
public:
    ~SharedList() {
        for (T* item = all_.exchange(nullptr); item;) delete std::exchange(item, item->next);
    }

    void put(std::unique_ptr<T> item) {
        size_.fetch_add(1, std::memory_order_seq_cst);
        T* chain = item.release();
        put_chain(chain, chain);
    }

    /// One item, or null. Another worker that looks while the rest is being put back sees an empty list.
    std::unique_ptr<T> take() {
        if (!all_.load(std::memory_order_relaxed)) return nullptr;
        std::unique_ptr<T> item(all_.exchange(nullptr, std::memory_order_seq_cst));
        if (!item) return nullptr;
        if (T* rest = std::exchange(item->next, nullptr)) {
            T* last = rest;
            while (last->next) last = last->next;
            put_chain(rest, last);
        }
        size_.fetch_sub(1, std::memory_order_seq_cst);
        return item;
    }

    /// Never less than what is in the list: counted before it is put, and until after it is taken.
    std::uint32_t size() const { return size_.load(std::memory_order_seq_cst); }

private:
    void put_chain(T* first, T* last) {
        T* head = all_.load(std::memory_order_relaxed);
        do last->next = head;
        while (
            !all_.compare_exchange_weak(head, first, std::memory_order_seq_cst, std::memory_order_relaxed));
    }

    std::atomic<T*> all_{nullptr};
    std::atomic<std::uint32_t> size_{0};
};

}  // namespace heddle::runtime
