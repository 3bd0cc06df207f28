// The split deque of one worker: a private part, which only its owner uses, above a shared part, from which
// thieves take the oldest task. It knows nothing of the worker loop.
//
// Invariant: indices are ordered tail <= split <= head.
//   [0, tail)      taken by thieves, waiting for their results, or free again
//   [tail, split)  shared: a thief may take `tail` by a compare-and-swap on (tail, split)
//   [split, head)  private: only the owner reads or writes these
// The owner moves `split` up (publish) and down (reclaim), always by an atomic operation on the pair, because
// a thief may move `tail` at the same time. `head` is a local variable of the program that runs, not stored
// here: the caller passes it to each operation.
//
// What a slot holds, beside its index:
//   - a slot below `head` has a type;
//   - if the type of a slot from `tail` on destroys arguments (TaskType::Special), they are there. A fork
//     writes it after the arguments, and code that takes these out of the slot clears it.
// So the tasks that are left are found without `head` (`top`).
//
// If no thief takes a task, its push and pop use no atomic read-modify-write and no fence (van Dijk, van de
// Pol: "Lace: non-blocking split deque for work-stealing", Euro-Par 2014 workshops). Each tests one pointer,
// its gate (`fork_limit`, `join_limit`). A gate is open until a thief asks for work. If operations are
// charged, it is always closed. Past a closed gate, an operation takes the slow path.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::runtime {

/// A task in its place in the deque. Never moves: arguments and result are exchanged through `payload`.
struct alignas(64) Slot {
    /// What has become of a shared task. Set to `pending` when it is published; of no meaning while private.
    enum State : std::uint64_t { pending = 0, done = 1 };

    const TaskType* type;              ///< null: there is no task, see Deque
    std::atomic<std::uint64_t> state;  ///< pending, done, or its thief (see Worker::taken_by)
    alignas(16) std::byte payload[payload_bytes];
};
static_assert(sizeof(Slot) == 64);

class Deque {
public:
    /// Room for `slots` tasks, in `memory` if it is not empty: `bytes_for(slots)`, aligned as a slot. Memory
    /// is touched only as it is used. Throws Error where the system refuses the address range.
    Deque(std::uint32_t slots, bool gate_open, std::span<std::byte> memory = {});
    ~Deque();
    Deque(const Deque&) = delete;
    Deque& operator=(const Deque&) = delete;

    /// One slot more than may be used: the fast path writes before it looks.
    static std::size_t bytes_for(std::uint32_t slots) { return (std::size_t{slots} + 1) * sizeof(Slot); }

    Slot* base() const { return slots_; }
    Slot* slot(std::uint32_t index) const { return slots_ + index; }
    /// The number of a task that a thief took: `index`, without a look at the owner's line of the cache.
    std::uint32_t taken_index(const Slot* taken) const {
        return static_cast<std::uint32_t>(taken - taken_slots_);
    }
    Slot* taken_slot(std::uint32_t index) const { return taken_slots_ + index; }
    std::uint32_t index(const Slot* slot) const { return static_cast<std::uint32_t>(slot - slots_); }
    std::uint32_t capacity() const { return capacity_; }

    // The owner's gates: one comparison each on the fast path.
    bool may_push(const Slot* head) const {
        return address(head) < fork_limit_.load(std::memory_order_relaxed);
    }
    bool may_pop(const Slot* slot) const {
        return address(slot) >= join_limit_.load(std::memory_order_relaxed);
    }

    // --- the owner's slow path
    // ---------------------------------------------------------------------------------
    /// Whether there is room for a task that was pushed at `head`, the gates being closed.
    bool has_room(const Slot* head) const { return index(head) < capacity_; }

    std::uint32_t split() const { return split_; }
    bool asked() const { return asked_.load(std::memory_order_relaxed); }

    /// Shares the older half (rounded up) of the private tasks below `head`; or the oldest, until as many are
    /// shared as `keep_shared` says. Returns how many.
    std::uint32_t publish(const Slot* head);

    /// Shares all private tasks below `head`, also beyond `keep_shared`. False if there are none.
    bool publish_all(const Slot* head);

    enum class Reclaimed : std::uint8_t { mine, taken };

    /// Makes `slot`, the topmost task, private again together with half of the shared ones below it, unless a
    /// thief has it.
    Reclaimed reclaim(const Slot* slot);

    /// Forgets the taken topmost task, whose result has been read.
    void release(const Slot* slot);

    /// Opens the gates again after a request was served.
    void answer();

    /// Opens the gates if no request waits. A thief may close them after its request was answered; then the
    /// owner finds them closed, and no request.
    void reopen();

    /// From now on the gates may open, on a deque that was made with closed ones.
    void allow_open() {
        gate_open_ = true;
        reopen();
    }

    /// From now on the gates stay closed, until allow_open().
    void keep_closed() {
        gate_open_ = false;
        close_gates();
    }

    /// From now on `publish` shares up to `limit` tasks, if that is not 0, and they stay shared. Before the
    /// run.
    void keep_shared(std::uint32_t limit) { limit_ = limit; }
    std::uint32_t limit() const { return limit_; }

    /// Gives up the task that was pushed at `head`, as if a thief had taken it. False if tasks wait below.
    bool send_off(const Slot* head);

    /// The oldest shared task, which a thief may take at any moment, or null.
    const Slot* oldest() const;
    /// Takes the oldest shared task, as a thief does, if it is detached. Else null.
    Slot* take_detached();

    /// When the run is over: drops what tasks below `head` hold, which are not joined. Their owner has been
    /// unwound. Above them may be slots of tasks that have gone.
    void drop(std::uint32_t head);
    /// An index that `head` is not above. In memory of its own only, which is zero in the beginning.
    std::uint32_t top() const;

    // --- thieves, from any context of the node
    // -------------------------------------------------------------------
    /// Takes the oldest shared task, or null. The caller then owns the slot until it sets `state` to done.
    Slot* take();

    /// How many tasks are shared now.
    std::uint32_t shared() const {
        const Ends ends = unpack(ends_.load(std::memory_order_seq_cst));
        return ends.split - ends.tail;
    }

    /// How many tasks below `head` no thief has taken. For the owner.
    std::uint32_t waiting(const Slot* head) const {
        return index(head) - unpack(ends_.load(std::memory_order_relaxed)).tail;
    }

    /// Asks the owner to publish: closes its gates until it has.
    void ask() {
        // The first thief that asks closes the gates. Writing again would only take the line from a busy
        // owner.
        if (!asked_.load(std::memory_order_seq_cst)) ask_first();
    }

    /// What the owner and other contexts of its node tell each other, on slow paths. It is here because
    /// thieves have this line of the cache anyway. The deque does not look at it.
    struct OfWorker {
        enum class LongSleep : std::uint8_t { none, begins, lasts, ends };

        std::atomic<bool> requesting{false};                 ///< a steal request of the owner's is under way
        std::atomic<LongSleep> long_sleep{LongSleep::none};  ///< see Worker::rest_long
        std::atomic<bool> waits_idly{false};                 ///< see Worker::wait_idly
    };
    OfWorker& of_worker() { return of_worker_; }
    const OfWorker& of_worker() const { return of_worker_; }

private:
    struct Ends {
        std::uint32_t tail;
        std::uint32_t split;
    };
    static constexpr Ends unpack(std::uint64_t word) {
        return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
    }
    static constexpr std::uint64_t pack(Ends ends) { return std::uint64_t{ends.tail} << 32 | ends.split; }

    static std::uintptr_t address(const Slot* slot) { return reinterpret_cast<std::uintptr_t>(slot); }
    void share(std::uint32_t count);
    template <class Accepts>
    Slot* take_if(const Accepts& accepts);
    void ask_first();
    void open_gates();
    void close_gates();

    // Written by thieves when they take.
    alignas(64) std::atomic<std::uint64_t> ends_{0};
    // Beside it, for them.
    Slot* taken_slots_ = nullptr;
    std::uint32_t limit_ = 0;
    OfWorker of_worker_;

    // Written by thieves when they ask, read by the owner at every operation.
    alignas(64) std::atomic<std::uintptr_t> fork_limit_;
    std::atomic<std::uintptr_t> join_limit_;
    std::atomic<bool> asked_{false};
    // The owner's own. It writes these only when it writes the gates too. A worker puts more beside them that
    // it only reads (see Worker::deque_).
    bool gate_open_ = true;
    bool owns_memory_;
    std::uint32_t split_ = 0;  ///< the owner's copy of the shared `split`
    std::uint32_t capacity_ = 0;
    Slot* slots_ = nullptr;
};

}  // namespace heddle::runtime
