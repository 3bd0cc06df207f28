// The slow path of a worker's deque: the owner shares and takes back tasks, thieves close its gates and take
// tasks.
#include "runtime/core/deque.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::runtime {

Deque::Deque(std::uint32_t slots, bool gate_open, std::span<std::byte> memory)
    : gate_open_(gate_open), owns_memory_(memory.empty()), capacity_(slots) {
    HEDDLE_ASSERT(owns_memory_ || memory.size() >= bytes_for(slots));
    void* begin = memory.data();
    if (owns_memory_) {
        begin = ::mmap(nullptr, bytes_for(slots), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (begin == MAP_FAILED) {
            throw Error(fmt::format("no address space for a deque of {} tasks", slots),
                        "lower schedule.deque_slots, or raise the limit (ulimit -v)");
        }
    }
    slots_ = taken_slots_ = static_cast<Slot*>(begin);
    open_gates();
}

Deque::~Deque() {
    if (owns_memory_) ::munmap(slots_, bytes_for(capacity_));
}

void Deque::open_gates() {
    if (!gate_open_) return close_gates();
    fork_limit_.store(address(slots_ + capacity_), std::memory_order_seq_cst);
    join_limit_.store(address(slots_ + split_), std::memory_order_seq_cst);
}

void Deque::answer() {
    asked_.store(false, std::memory_order_seq_cst);
    reopen();
}

// Invariant: if `asked` is set, the gates are closed, or the thief that set it is about to close them. That
// thief may close them long after the answer. So gates may be closed without a request, until the owner's
// next operation reopens them.
void Deque::reopen() {
    if (!gate_open_ || asked()) return;
    open_gates();
    // A thief sets `asked` and then closes the gates. If it did both before this line, `open_gates` may have
    // undone its closing.
    if (asked_.load(std::memory_order_seq_cst)) close_gates();
}

void Deque::ask_first() {
    if (!asked_.exchange(true, std::memory_order_seq_cst)) close_gates();
}

void Deque::close_gates() {
    fork_limit_.store(0, std::memory_order_seq_cst);
    join_limit_.store(UINTPTR_MAX, std::memory_order_seq_cst);
}

std::uint32_t Deque::publish(const Slot* head) {
    const std::uint32_t end = index(head);
    if (end <= split_) return 0;  // all tasks are shared; `end` is one less if the last of them is popped
    std::uint32_t count = (end - split_ + 1) / 2;
    if (limit_ != 0) count = std::min(end - split_, limit_ - std::min(limit_, shared()));
    if (count != 0) share(count);
    return count;
}

bool Deque::publish_all(const Slot* head) {
    const std::uint32_t end = index(head);
    if (end <= split_) return false;
    share(end - split_);
    return true;
}

/// Shares the oldest private tasks.
void Deque::share(std::uint32_t count) {
    for (std::uint32_t i = split_; i != split_ + count; ++i) {
        slot(i)->state.store(Slot::pending, std::memory_order_relaxed);
    }
    split_ += count;
    // Thieves change only `tail`, by compare-and-swap, so adding to the low half cannot carry into it.
    ends_.fetch_add(count, std::memory_order_seq_cst);
}

bool Deque::send_off(const Slot* head) {
    const std::uint32_t i = index(head);
    // If nothing is shared, no thief can be changing the pair.
    if (split_ != i || unpack(ends_.load(std::memory_order_acquire)).tail != i) return false;
    split_ = i + 1;
    ends_.store(pack({i + 1, i + 1}), std::memory_order_release);
    return true;
}

Deque::Reclaimed Deque::reclaim(const Slot* slot) {
    const std::uint32_t i = index(slot);
    if (i >= split_) return Reclaimed::mine;
    std::uint64_t word = ends_.load(std::memory_order_acquire);
    for (;;) {
        const Ends ends = unpack(word);
        if (i < ends.tail) return Reclaimed::taken;
        const std::uint32_t split = limit_ != 0 ? i : ends.tail + (i - ends.tail) / 2;
        if (ends_.compare_exchange_weak(word, pack({ends.tail, split}), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
            split_ = split;
            reopen();  // `split` has moved
            return Reclaimed::mine;
        }
    }
}

void Deque::release(const Slot* slot) {
    const std::uint32_t i = index(slot);
    // All above have been joined, and this one was taken: nothing is shared, so no thief can be changing the
    // pair.
    HEDDLE_ASSERT(unpack(ends_.load(std::memory_order_relaxed)).tail == i + 1 && split_ == i + 1);
    split_ = i;
    this->slot(i)->type = nullptr;
    ends_.store(pack({i, i}), std::memory_order_release);
    reopen();  // `split` has moved
}

std::uint32_t Deque::top() const {
    HEDDLE_ASSERT(owns_memory_);
    std::uint32_t i = 0;
    while (i <= capacity_ && slot(i)->type) ++i;  // the last is that of bytes_for
    return i;
}

// A task that a thief took has left its slot. Once it is done its result is there.
void Deque::drop(std::uint32_t head) {
    const std::uint32_t tail = std::min(unpack(ends_.load(std::memory_order_acquire)).tail, head);
    for (std::uint32_t i = 0; i < head; ++i) {
        Slot& left = *slot(i);
        const bool is_done = left.state.load(std::memory_order_acquire) == Slot::done;
        left.type->drop(i >= tail ? Holds::arguments
                        : is_done ? Holds::result
                                  : Holds::nothing,
                        left.payload);
        left.type = nullptr;
    }
}

template <class Accepts>
Slot* Deque::take_if(const Accepts& accepts) {
    std::uint64_t word = ends_.load(std::memory_order_acquire);
    for (;;) {
        const Ends ends = unpack(word);
        if (ends.tail >= ends.split || !accepts(ends.tail)) return nullptr;
        if (ends_.compare_exchange_weak(word, pack({ends.tail + 1, ends.split}), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
            return taken_slot(ends.tail);
        }
    }
}

Slot* Deque::take() {
    return take_if([](std::uint32_t) { return true; });
}

// Only the owner writes types, so it may read that of a task which a thief is taking.
Slot* Deque::take_detached() {
    return take_if([this](std::uint32_t tail) { return slot(tail)->type->detached(); });
}

const Slot* Deque::oldest() const {
    const Ends ends = unpack(ends_.load(std::memory_order_seq_cst));
    return ends.tail == ends.split ? nullptr : slot(ends.tail);
}

}  // namespace heddle::runtime
