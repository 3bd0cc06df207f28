#include "runtime/deque.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <new>

#include "base/error.hpp"

namespace heddle::runtime {

namespace {

constexpr std::size_t dense_bytes_max = std::size_t{16} << 10;

}  // namespace

Deque::Deque(std::uint32_t slots, bool gate_open) : capacity_(slots), gate_open_(gate_open) {
    // One slot more than may be used: the fast path writes before it looks.
    const std::size_t bytes = (std::size_t{slots} + 1) * sizeof(Slot);
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw Error(fmt::format("no address space for a deque of {} tasks", slots),
                    "lower schedule.deque_slots, or raise the limit (ulimit -v)");
    }
    // Small deques lie side by side, and thousands of them are more pages than a processor remembers. Nothing
    // is committed here; a large one would be committed by two megabytes.
    if (bytes <= dense_bytes_max) ::madvise(memory, bytes, MADV_HUGEPAGE);
    base_ = static_cast<Slot*>(memory);
    end_ = base_ + slots;
    open_gates();
}

Deque::~Deque() {
    munmap(base_, (std::size_t{capacity_} + 1) * sizeof(Slot));
}

void Deque::open_gates() {
    fork_limit_.store(gate_open_ ? end_ : base_, std::memory_order_seq_cst);
    join_limit_.store(gate_open_ ? base_ + split_ : end_ + 1, std::memory_order_seq_cst);
}

void Deque::answer() {
    asked_.store(false, std::memory_order_seq_cst);
    open_gates();
    // A thief sets `asked` and then closes the gates. One that set it before this line may have had its
    // closing undone.
    if (asked_.load(std::memory_order_seq_cst)) close_gates();
}

void Deque::ask() {
    // Whoever asked first closes the gates; writing again would only take the line from a busy owner.
    if (asked_.load(std::memory_order_seq_cst) || asked_.exchange(true, std::memory_order_seq_cst)) return;
    close_gates();
}

void Deque::close_gates() {
    fork_limit_.store(base_, std::memory_order_seq_cst);
    join_limit_.store(end_ + 1, std::memory_order_seq_cst);
}

std::uint32_t Deque::publish(const Slot* head) {
    const std::uint32_t private_tasks = index(head) - split_;
    const std::uint32_t count = (private_tasks + 1) / 2;
    if (count == 0) return 0;
    for (std::uint32_t i = split_; i != split_ + count; ++i) {
        base_[i].state.store(Slot::pending, std::memory_order_relaxed);
    }
    split_ += count;
    // Thieves change only `tail`, by compare-and-swap, so adding to the low half cannot carry into it.
    ends_.fetch_add(count, std::memory_order_seq_cst);
    return count;
}

Deque::Reclaimed Deque::reclaim(const Slot* slot) {
    const std::uint32_t i = index(slot);
    if (i >= split_) return Reclaimed::mine;
    std::uint64_t word = ends_.load(std::memory_order_acquire);
    for (;;) {
        const Ends ends = unpack(word);
        if (i < ends.tail) return Reclaimed::taken;
        const std::uint32_t split = ends.tail + (i - ends.tail) / 2;
        if (ends_.compare_exchange_weak(word, pack({ends.tail, split}), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
            split_ = split;
            if (!asked()) answer();
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
    ends_.store(pack({i, i}), std::memory_order_release);
    if (!asked()) answer();
}

Slot* Deque::take() {
    std::uint64_t word = ends_.load(std::memory_order_acquire);
    for (;;) {
        const Ends ends = unpack(word);
        if (ends.tail >= ends.split) return nullptr;
        if (ends_.compare_exchange_weak(word, pack({ends.tail + 1, ends.split}), std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
            return base_ + ends.tail;
        }
    }
}

std::uint32_t Deque::shared() const {
    const Ends ends = unpack(ends_.load(std::memory_order_seq_cst));
    return ends.split - ends.tail;
}

}  // namespace heddle::runtime
