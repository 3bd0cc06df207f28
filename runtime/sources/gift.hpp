// The message that brings tasks to a thief on another node. Each kind of ready work (a work source, such as a
// deque) adds the tasks that it can give away. Does not decide how many that are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/task_type.hpp"
#include "runtime/sources/token.hpp"

namespace heddle::runtime {

class Gift {
public:
    static constexpr std::uint32_t most_tasks = 64;
    static constexpr std::uint32_t most_donated = 4096;

    /// What a message says of each task, before its arguments and its cargo. Large cargo lies in the
    /// message's body instead: then `in_body` is added to the type.
    struct TaskHeader {
        static constexpr TaskTypeId in_body = TaskTypeId{1} << 31;

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

    bool wants_more() const {
        return count_ < wanted_ && message_.bytes().size() + body_.bytes().size() < bytes_max;
    }

    /// Before a task that no worker of this node waits for is taken from where it is seen: until it is
    /// counted as sent it is still here.
    void leaves();

    /// Adds a task with its cargo. Its result is awaited at `home`. Throws Error if it cannot leave its node.
    void add(const TaskType& type, Home home, const std::byte* payload);
    /// Adds a task that no worker waits for.
    void add(const TaskType& type, const std::byte* payload);

    /// Sends what was added, and returns how many tasks that is.
    std::uint32_t send(const Handler& handler);

    /// Calls `give_one(worker)`, which returns whether it added a task, for the workers of this node, as long
    /// as tasks are wanted and come.
    template <class GiveOne>
    void from_workers(const GiveOne& give_one);

private:
    [[noreturn, gnu::cold]] void refuse(const TaskType& type) const;

    static constexpr std::size_t bytes_max = std::size_t{1} << 20;  ///< beyond which no task more is added

    Node& node_;
    Outbox& outbox_;
    NodeId thief_;
    CoreId core_;
    CoreId first_victim_;
    CoreId cores_;
    bool in_turn_;  ///< each worker gives one task before one gives two
    std::uint32_t wanted_;
    std::uint32_t count_ = 0;
    std::uint32_t leaving_ = 0;
    std::uint64_t data_bytes_ = 0;
    std::uint64_t padding_ = 0;
    Writer message_;
    Writer body_;
};

template <class GiveOne>
void Gift::from_workers(const GiveOne& give_one) {
    if (!wants_more()) return;
    for (bool more = true; more;) {
        more = false;
        for (CoreId i = 0; i < cores_; ++i) {
            const CoreId core = first_victim_ + i;
            Worker& victim = node_.worker(core < cores_ ? core : core - cores_);
            while (give_one(victim)) {
                if (!wants_more()) return;
                more = in_turn_;
                if (in_turn_) break;
            }
        }
    }
}

}  // namespace heddle::runtime
