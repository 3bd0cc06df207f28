// Tasks that were sent to a certain worker of a certain node. Their senders wait for the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/inboxes.hpp"

namespace heddle::runtime {

/// A task that its sender waits for. The sender keeps it until it is done.
class SentTask : public Event {
public:
    SentTask() = default;
    SentTask(const SentTask&) = delete;
    SentTask& operator=(const SentTask&) = delete;
    ~SentTask() override;

    /// Sends a task of `type`, which travels, to a worker, which alone runs it. `arguments`: its payload, of
    /// which nothing is left. Throws Error if there is no such worker. Once.
    void send(Worker& sender, WorkerId to, const TaskType& type, std::byte* arguments);

    /// The bytes of the result, once it is done. What they hold is the caller's.
    std::byte* take_result() {
        holds_ = Holds::nothing;
        return result_;
    }

    /// The result has come: from this node, or in a message.
    void arrive(Node& node, Context& caller, const std::byte* result);
    void arrive(Node& node, std::span<const std::byte> message);

    std::string what() const override;

private:
    WorkerId to_;
    const TaskType* type_ = nullptr;
    Holds holds_ = Holds::nothing;
    alignas(16) std::byte result_[payload_bytes] = {};
};

/// On its way, and at the worker that runs it. It drops what it holds, as a Token does.
struct PinnedTask {
    PinnedTask() = default;
    PinnedTask(const PinnedTask&) = delete;
    PinnedTask& operator=(const PinnedTask&) = delete;
    ~PinnedTask() {
        if (type) type->drop(holds, payload);
    }

    const TaskType* type = nullptr;
    NodeId home = 0;
    Holds holds = Holds::nothing;
    SentTask* awaited = nullptr;  ///< on `home`
    alignas(16) std::byte payload[payload_bytes];
    PinnedTask* next = nullptr;
    PinnedTask* before = nullptr;
};

/// The tasks that wait for the workers of a node: `node.state<PinnedTasks>()`. No thief gets them.
class PinnedTasks final : public State<Node>, public Inboxes<PinnedTask> {
public:
    explicit PinnedTasks(Node& node) : Inboxes(node) { node.sources().add(*this); }

    bool run(Worker& worker, Slot* head) override;
};

}  // namespace heddle::runtime
