// Writes the arguments and the result of a task into messages, and reads them back. A message has the bytes
// of the payload, and the cargo: what the task has on the heap. A large cargo travels in the message's body.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::runtime {

/// Posts `header` and the task's arguments, whose cargo leaves the node.
void post_arguments(Node& node, Outbox& outbox, NodeId to, const Handler& handler,
                    std::span<const std::byte> header, const TaskType& type, const std::byte* payload);

/// Reads them into `payload`. `message`: what follows the header. Called by the handler. Throws
/// MalformedMessage.
void read_arguments(Node& node, const TaskType& type, std::span<const std::byte> message, std::byte* payload);

/// The same for the result that the task has left in `payload`.
void post_result(Node& node, Outbox& outbox, NodeId to, const Handler& handler,
                 std::span<const std::byte> header, const TaskType& type, const std::byte* payload);
void read_result(Node& node, const TaskType& type, std::span<const std::byte> message, std::byte* payload);

}  // namespace heddle::runtime
