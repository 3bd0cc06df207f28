// Tasks that wait for any worker of a node: those that became ready here, and those that came from other
// nodes.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "runtime/core/work_source.hpp"
#include "runtime/sources/shared_list.hpp"
#include "runtime/sources/token.hpp"

namespace heddle::runtime {

class Node;

/// A list of tasks that a worker runs one by one. Charges `costs->token` for each.
class TaskList : public WorkSource {
public:
    explicit TaskList(Node& node) : node_(node), list_(waiting_) {}

    /// Any context of the node. Wakes no worker.
    void put(std::unique_ptr<Token> task) { list_.put(std::move(task)); }
    bool run(Worker& worker, Slot* head) override;

protected:
    Node& node_;
    SharedList<Token> list_;
};

/// Tasks that a signal or a message has made ready. They stay on this node.
class ReadyTasks final : public TaskList {
public:
    using TaskList::put;
    using TaskList::TaskList;
    void put(const TaskType& type, std::span<const std::byte> arguments);
};

/// Tokens that other nodes have given. A further node may get them.
class ArrivedTasks final : public TaskList {
public:
    using TaskList::TaskList;
    void give(Gift& gift) override;
};

}  // namespace heddle::runtime
