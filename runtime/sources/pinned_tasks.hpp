// Tasks that were sent to a certain worker of a certain node. Their senders wait for the results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/node.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/shared_list.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// A task that its sender waits for. The sender keeps it until it is done.
class SentTask : public Event {
public:
    /// Sends a task of `type`, which travels, to a worker, which alone runs it. `arguments`: its payload.
    /// Throws Error if there is no such worker. Once.
    void send(Worker& sender, WorkerId to, const TaskType& type, const std::byte* arguments);

    /// The bytes of the result, once it is done.
    std::byte* result() { return result_; }

    /// The result has come: from this node, or in a message.
    void arrive(Node& node, Context& caller, const std::byte* result);
    void arrive(Node& node, std::span<const std::byte> message);

    std::string what() const override;

private:
    WorkerId to_;
    const TaskType* type_ = nullptr;
    alignas(16) std::byte result_[payload_bytes] = {};
};

/// The tasks that wait for the workers of a node: `node.state<PinnedTasks>()`. No thief gets them.
class PinnedTasks final : public State<Node>, public WorkSource {
public:
    struct Task {
        const TaskType* type = nullptr;
        NodeId home = 0;
        SentTask* awaited = nullptr;  ///< on `home`
        alignas(16) std::byte payload[payload_bytes];
        Task* next = nullptr;
    };

    explicit PinnedTasks(Node& node);

    /// By any context of the node.
    void put(Context& caller, CoreId core, std::unique_ptr<Task> task);

    bool waits_for(const Worker& worker) const override;
    bool run(Worker& worker, Slot* head) override;

private:
    struct Inbox {
        WaitingCount size;
        SharedList<Task> tasks{size};
    };

    Node& node_;
    std::vector<Inbox> inboxes_;  ///< by core
};

}  // namespace heddle::runtime
