// Sync slots of EARTH (Tremblay et al., section 2): a slot counts the signals missing until a task may run.
// Also the split-phase operations, which signal a slot when done. Signals may come from any node.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "runtime/backend.hpp"
#include "runtime/comm/global_reference.hpp"

namespace heddle::runtime {

class Node;
class Worker;

/// Invariant: `missing` counts down to zero once for each round; the signal that takes it there starts the
/// next round before it enables anything, so signals of the next round may come at once.
class SyncSlot {
public:
    /// What happens when the last signal has come: mostly something becomes ready (Node::make_ready). Runs on
    /// the context that brought that signal: a worker of the slot's node, or its receiver.
    using Enable = void (*)(SyncSlot& slot, Node& node, Context& caller);

    /// `count` signals enable it the first time, `reset_count` each time after that; a reset count of 0: only
    /// once. A count of 0: it gets its counts later, by `set`.
    SyncSlot(std::uint32_t count, std::uint32_t reset_count, Enable enable)
        : missing_(count), reset_count_(reset_count), enable_(enable) {}

    /// Sets the counts. The caller must ensure that no signal can come meanwhile.
    void set(std::uint32_t count, std::uint32_t reset_count) {
        reset_count_ = reset_count;
        missing_.store(count, std::memory_order_relaxed);
    }

    /// `signals` of the missing ones have come, on `node`, the slot's own. Throws Error if fewer are missing.
    void signal(Node& node, Context& caller, std::uint32_t signals = 1) {
        caller.charge(caller.costs->sync);
        std::uint32_t missing = missing_.load(std::memory_order_relaxed);
        bool last = false;
        do {
            if (missing < signals) [[unlikely]]
                too_many(missing, signals);
            last = missing == signals;
        } while (!missing_.compare_exchange_weak(missing, last ? reset_count_ : missing - signals,
                                                 std::memory_order_acq_rel, std::memory_order_relaxed));
        if (last) enable_(*this, node, caller);
    }

    std::uint32_t missing() const { return missing_.load(std::memory_order_relaxed); }

private:
    [[noreturn]] static void too_many(std::uint32_t missing, std::uint32_t signals);

    std::atomic<std::uint32_t> missing_;
    std::uint32_t reset_count_;
    Enable enable_;
};

/// Signals a slot anywhere. To another node the signal travels as a small message, with others.
void signal(Worker& worker, GlobalReference<SyncSlot> slot, std::uint32_t signals = 1);

/// The same by any context of `node`.
void signal(Node& node, Context& caller, GlobalReference<SyncSlot> slot, std::uint32_t signals = 1);

/// Writes `bytes` to `target` and then signals `slot`, wherever that is (PUT_SYNC, BLKMOV_SYNC). `bytes` may
/// be reused at once.
void put_bytes(Worker& worker, std::span<const std::byte> bytes, GlobalReference<std::byte> target,
               GlobalReference<SyncSlot> slot);

/// Reads `count` bytes at `source` into `target`, which is on the caller's node, and then signals `slot`
/// (GET_SYNC).
void get_bytes(Worker& worker, GlobalReference<const std::byte> source, std::uint64_t count,
               std::byte* target, GlobalReference<SyncSlot> slot);

/// Copies `count` bytes from `source` to `target`, each on any node, and then signals `slot` (BLKMOV_SYNC).
void move_bytes(Worker& worker, GlobalReference<const std::byte> source, GlobalReference<std::byte> target,
                std::uint64_t count, GlobalReference<SyncSlot> slot);

template <class T>
requires std::is_trivially_copyable_v<T>
void put(Worker& worker, const T& value, GlobalReference<T> target, GlobalReference<SyncSlot> slot) {
    GlobalReference<std::byte> bytes;
    bytes.node = target.node;
    bytes.address = target.address;
    put_bytes(worker, std::as_bytes(std::span(&value, 1)), bytes, slot);
}

template <class T>
requires std::is_trivially_copyable_v<T>
void get(Worker& worker, GlobalReference<T> source, T* target, GlobalReference<SyncSlot> slot) {
    GlobalReference<const std::byte> bytes;
    bytes.node = source.node;
    bytes.address = source.address;
    get_bytes(worker, bytes, sizeof(T), reinterpret_cast<std::byte*>(target), slot);
}

}  // namespace heddle::runtime
