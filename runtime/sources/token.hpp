// A task that waits on a node until one of its workers runs it. It is a token, which came from another node
// and may go on to a third, or a ready task, which stays on this node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::runtime {

/// Where a task's result is awaited: slot `index` of a worker's deque. Its node is the task's home.
struct Home {
    static constexpr CoreId no_worker = ~CoreId{0};  ///< as `core`: no worker waits for it

    NodeId node = 0;
    CoreId core = 0;
    std::uint32_t index = 0;
};

/// A task not yet expanded. It drops what it holds if no worker runs it, or no caller gets its result.
struct Token {
    Token() = default;
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    ~Token() {
        if (type) type->drop(holds, payload);
    }

    const TaskType* type = nullptr;
    Home home;
    NodeId from = 0;  ///< the node that gave it, for a token
    Holds holds = Holds::nothing;
    alignas(16) std::byte payload[payload_bytes];
    Token* next = nullptr;
    Token* before = nullptr;
};

}  // namespace heddle::runtime
