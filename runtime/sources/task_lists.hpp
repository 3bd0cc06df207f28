// Tasks that wait for any worker of a node: those that became ready here, and those that came from other
// nodes.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "runtime/sources/shared_list.hpp"
#include "runtime/sources/token.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

class Node;

/// Lists of tasks, which are dealt to them in turn. A worker runs tasks one by one, those of its own list
/// first. Charges `costs->token` for each.
class TaskLists : public WorkSource {
public:
    TaskLists(Node& node, CoreId lists);

    /// Any context of the node. Wakes no worker.
    void put(std::unique_ptr<Token> task);
    bool run(Worker& worker, Slot* head) override;

protected:
    std::uint32_t size() const { return waiting_.get(); }
    /// Whether a worker, which has shown itself active, may take one and run it.
    virtual bool may_begin() const { return true; }
    /// Of the list of `core`, if it has one. Null if there is none in all lists.
    std::unique_ptr<Token> take(CoreId core);
    /// Of the list of `core` alone.
    std::unique_ptr<Token> take_own(CoreId core) { return lists_[core]->take(); }

    Node& node_;

private:
    std::vector<std::unique_ptr<SharedList<Token>>> lists_;
    std::atomic<std::uint32_t> next_{0};
};

/// Tasks that a signal or a message has made ready. They stay on this node.
class ReadyTasks final : public TaskLists {
public:
    explicit ReadyTasks(Node& node) : TaskLists(node, 1) {}
    using TaskLists::put;
    void put(const TaskType& type, std::span<const std::byte> arguments);
};

/// Tokens that other nodes have given. A further node may get them. With donation each worker has a list.
class ArrivedTasks final : public TaskLists {
public:
    explicit ArrivedTasks(Node& node);
    /// With donation only: else a gift would take on what has just come, in place of what workers share.
    std::uint32_t givable() const override { return donates_ ? beyond_need() : 0; }
    /// Without donation.
    void give(Gift& gift) override;
    /// With donation: adds one of that worker's list. False if none may go on.
    bool give_one(Gift& gift, CoreId core) { return donates_ && donate_one(gift, core); }

protected:
    bool may_begin() const override;

private:
    bool donate_one(Gift& gift, CoreId core);

    /// More than the workers here can begin.
    std::uint32_t beyond_need() const;

    bool donates_;
};

}  // namespace heddle::runtime
