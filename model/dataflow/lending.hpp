// Notes where the objects of a thread's bodies are while groups have them. A group leaves each object on the
// node that wrote it last. The object comes home when the body reads or writes it, forks a task with it, or
// makes another group with it.
//
// Invariant: an access is flagged `lent` while nodes may have values of its object, or groups that run use
// it, and then also `away` while its own cell does not have the value. What a running group writes is away.
// An object of a group that was unwound may end while it is lent. Its entry says nothing of a later object.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/dataflow/closure.hpp"
#include "model/dataflow/group_values.hpp"

namespace heddle::dataflow {

class Group;

class Lending {
public:
    explicit Lending(Thread& self) : self_(self) {}

    /// A node that has the value of an object, and its name there.
    struct Holder {
        NodeId node;
        ValueName value;
    };
    struct Lent {
        const ValueType* type = nullptr;
        std::vector<Holder> holders{};
    };

    // --- for the body
    /// The body is about to use the object in a direct mode: groups that must end before do, and the value
    /// comes home. The worker may be another one afterwards.
    void use(Access& root, Mode mode);
    bool empty() const { return lent_.empty() && running_.empty(); }

    // --- for groups
    /// Waits for running groups with which the group may not run.
    void wait_for_conflicts(const Group& group);
    void started(Group& group) { running_.push_back(&group); }
    void ended(const Group& group);
    /// Of an object that is or becomes lent.
    Lent& lend(Access& root, const ValueType& type);
    /// Of an object that is away. Throws Error if no node has its value.
    static const Holder& expect_holder(const Lent& lent);
    /// Null if it is not lent.
    const Lent* find(const Access& root) const;
    /// Brings the values of those home that are away.
    void fetch(std::span<Access* const> roots);
    /// Its value, or the one that replaces it, is here only from now on. The nodes are told, but not of
    /// values of a group that they forget.
    void call_in(Access& root, const std::optional<GroupName>& forgotten = {});

private:
    void wait_for_users(const Access& root, bool writes);

    Thread& self_;
    std::map<const Access*, Lent> lent_;
    std::vector<Group*> running_;
};

}  // namespace heddle::dataflow
