// Tasks on their way to a thief on another node, in one message. Sources add tasks (WorkSource::give).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"
#include "runtime/outbox.hpp"
#include "runtime/sources/token.hpp"
#include "runtime/task_type.hpp"
#include "runtime/wire.hpp"

namespace heddle::runtime {

class Gift {
public:
    static constexpr std::uint32_t most_tasks = 64;

    /// What a message says of each task, before its arguments.
    struct TaskHeader {
        TaskTypeId type;
        Home home;
    };

    /// `core`: what the message says which worker of `thief` has asked. `wanted`: at most so many tasks.
    /// `first_victim`: the worker of this node that is looked at first.
    Gift(Node& node, Outbox& outbox, NodeId thief, CoreId core, std::uint32_t wanted, CoreId first_victim);

    Node& node() const { return node_; }
    /// Of the context that gives.
    Outbox& outbox() const { return outbox_; }
    NodeId thief() const { return thief_; }
    CoreId first_victim() const { return first_victim_; }

    bool wants_more() const { return count_ < wanted_ && message_.bytes().size() < bytes_max; }

    /// Before a task that no worker of this node waits for is taken from where it is seen: until it is
    /// counted as sent it is still here.
    void leaves();

    /// Adds a task with its cargo. Its result is awaited at `home`.
    void add(const TaskType& type, Home home, const std::byte* payload);
    /// Adds a task that no worker waits for.
    void add(const TaskType& type, const std::byte* payload);

    /// Sends what was added, and returns how many tasks that is.
    std::uint32_t send(const Handler& handler);

private:
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;  ///< beyond which no task more is added

    Node& node_;
    Outbox& outbox_;
    NodeId thief_;
    CoreId core_;
    CoreId first_victim_;
    std::uint32_t wanted_;
    std::uint32_t count_ = 0;
    std::uint32_t leaving_ = 0;
    std::uint64_t data_bytes_ = 0;
    std::uint64_t padding_ = 0;
    Writer message_;
};

}  // namespace heddle::runtime
