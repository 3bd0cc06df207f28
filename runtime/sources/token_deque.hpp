// The token queue that the workers of a node share (schedule.token_queue: node), as in EARTH (Tremblay et
// al., section 4). Workers put new tokens at one end and take the latest there. Tokens from other nodes come
// to the other end, and tokens for other nodes leave there. The queue wakes no worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "runtime/backend.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// A detached task on its way.
struct LooseTask {
    const TaskType* type = nullptr;
    NodeId from = TaskNote::nowhere;  ///< the node that gave it, if it was stolen
    alignas(16) std::byte payload[payload_bytes];
};

/// For any context of the node. Each operation charges its caller `costs->token`, and where operations are
/// charged it waits for its turn: one operation at a time.
class TokenDeque {
public:
    /// `size` must outlive it. It is never less than what is in it.
    explicit TokenDeque(WaitingCount& size) : size_(size) {}
    TokenDeque(const TokenDeque&) = delete;
    TokenDeque& operator=(const TokenDeque&) = delete;
    /// Drops the arguments of tasks that no worker has taken.
    ~TokenDeque() {
        for (LooseTask& task : tasks_) task.type->drop(Holds::arguments, task.payload);
    }

    enum class End : std::uint8_t { latest, oldest };

    void put(Context& caller, End end, const TaskType& type, std::span<const std::byte> arguments,
             NodeId from = TaskNote::nowhere);
    std::optional<LooseTask> take(Context& caller, End end);

    std::uint32_t size() const { return size_.get(); }

private:
    void take_turn(Context& caller) {
        if (caller.costs->token != Time::zero()) caller.charge_in_turn(caller.costs->token, free_);
    }

    WaitingCount& size_;
    SpinLock lock_;
    std::deque<LooseTask> tasks_;
    Time free_{};  ///< until then another context has its turn
};

}  // namespace heddle::runtime
