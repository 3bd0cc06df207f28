// Sync slots: how many signals are still missing until something may run (EARTH paper, section 2), and the
// split-phase operations that signal one when they are done. A slot lives on one node; signals come from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "runtime/backend.hpp"
#include "runtime/global_reference.hpp"
#include "runtime/token.hpp"

namespace heddle::runtime {

class Node;

/// Invariant: `missing` counts down to zero once for each round; the signal that takes it there starts the
/// next round before it makes the task ready, so signals of the next round may come at once.
class SyncSlot {
public:
    using Run = std::function<void(Worker&, Slot* head)>;

    /// `count` signals enable `run` the first time, `reset_count` each time after that; a reset count of 0:
    /// only once. Both `count` and the number of signals sent must be at least 1 and agree.
    SyncSlot(std::uint32_t count, std::uint32_t reset_count, Run run)
        : missing_(count), reset_count_(reset_count), run_(std::move(run)) {
        HEDDLE_ASSERT(count > 0);
    }

    /// `signals` of the missing ones have come. The last makes the task ready on `node`, the slot's own.
    void signal(Node& node, Context& caller, std::uint32_t signals = 1);

private:
    std::atomic<std::uint32_t> missing_;
    std::uint32_t reset_count_;
    Run run_;
};

/// Signals a slot anywhere. To another node the signal travels as a small message, with others.
void signal(Worker& worker, GlobalReference<SyncSlot> slot, std::uint32_t signals = 1);

/// Writes `bytes` to `target` and then signals `slot`, wherever that is (PUT_SYNC, BLKMOV_SYNC). `bytes` may
/// be reused at once.
void put_bytes(Worker& worker, std::span<const std::byte> bytes, GlobalReference<std::byte> target,
               GlobalReference<SyncSlot> slot);

/// Reads `count` bytes at `source` into `target`, which is on the caller's node, and then signals `slot`
/// (GET_SYNC).
void get_bytes(Worker& worker, GlobalReference<const std::byte> source, std::uint64_t count,
               std::byte* target, GlobalReference<SyncSlot> slot);

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
