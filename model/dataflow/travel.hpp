// Moves closures to other nodes: a thief gets a copy with the values of the inputs, and sends the outputs
// back. It also lays out the thread with which a thief on the same node begins (the KAAPI paper, section 3.3,
// Figure 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/ids.hpp"
#include "model/dataflow/closure.hpp"
#include "runtime/core/task_type.hpp"

namespace heddle::runtime {
class Gift;
class Node;
}  // namespace heddle::runtime

namespace heddle::dataflow {

/// A closure has come from another node: starts a thief thread.
void start_arrived(runtime::Worker& worker, const std::byte* payload, const ClosureType& type);
/// Registers `type`, whose task type it is for.
runtime::TaskType::Special travelling_special(const ClosureType& type);
/// The closure type that a task type belongs to; null if it is none of dataflow's.
const ClosureType* closure_type_of(runtime::TaskTypeId id);

/// The name of its function, for messages.
std::string function_name(const ClosureType& type);

/// A closure in the thread's stack, whose accesses and arguments are still to be made.
Closure& new_closure(Thread& thread, const ClosureType& type);

/// The outputs of a closure that was sent have come. In a handler.
void receive_outputs(runtime::Node& node, std::span<const std::byte> message);

/// Takes from a stolen closure what a thief on another node needs, and adds it to the gift. The closure is
/// `id` to this node when its outputs come.
void send_closure(Closure& closure, std::uint64_t id, runtime::Gift& gift);

/// The frame of a thief thread: a copy of the stolen closure, and after it the closure that gives its outputs
/// back and signals its end (the paper's send-and-signal closure).
void begin_stolen(Thread& thief, Thread& victim, Closure& closure);

/// Throws Error: the task has a parameter that cannot travel, and the run has several nodes.
[[noreturn]] void refuse_to_travel(const ClosureType& type);

/// Binds a formal parameter to an object that an earlier one of the same closure has.
void join_alias(Closure& closure, Access& before, Access& access);

}  // namespace heddle::dataflow
