// Checks groups that each node records itself (the KAAPI paper, section 3.5). Node 0 compares the graph, the
// placement and the iterations of the first run of every other node with its own. A difference ends the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/dataflow/group_values.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"

namespace heddle::dataflow {

/// A group with one of its placings.
using PlacedGroup = std::pair<GroupName, std::uint32_t>;

/// Of all its tasks: what each is, in words.
using TaskDescriptions = std::vector<std::string>;

std::uint64_t digest_of(const TaskDescriptions& tasks);

class RecordedGroups final : public runtime::State<runtime::Node> {
public:
    explicit RecordedGroups(runtime::Node& node) : node_(node) {}

    /// A name for a group that each node records: they give the same names in the same order. Throws Error if
    /// another node has recorded its last one.
    GroupName new_name();
    /// This node records no more. Not on node 0.
    void ends(runtime::Context& caller);
    /// This node has recorded and placed a group.
    void recorded(runtime::Context& caller, const PlacedGroup& group, TaskDescriptions tasks);
    /// Afterwards, once: the group's first run has that placing and so many iterations; 0: it has another
    /// placing. Now the placing is compared.
    void runs(runtime::Context& caller, const PlacedGroup& group, std::uint32_t iterations);

    // --- for the messages
    /// What a node says of a placing.
    struct Said {
        std::uint64_t digest = 0;
        std::uint32_t iterations = 0;
    };
    /// On node 0: another node has recorded a group. The answer tells that node whether it is the same.
    /// Throws Error if it is, for other iterations.
    void recorded_by(runtime::Context& caller, const PlacedGroup& group, NodeId node, const Said& said);
    /// On node 0: another node has recorded so many groups, and records no more. Throws Error if this node
    /// has recorded more.
    void ended(NodeId node, std::uint32_t groups);
    /// On another node: it is what node 0 has recorded.
    void same(const PlacedGroup& group);
    /// It is not. Throws Error with the first task that differs.
    void differs(const PlacedGroup& group, const TaskDescriptions& on_node_0);

private:
    struct Recorded {
        TaskDescriptions tasks{};
        std::uint64_t digest = 0;
        bool here = false;
        std::optional<std::uint32_t> iterations{};
        NodeId others = 0;                             ///< that were compared
        std::map<NodeId, Said> early{};                ///< this node has not recorded it
        std::map<NodeId, std::uint32_t> uncompared{};  ///< iterations
    };

    using Groups = std::map<PlacedGroup, Recorded>;
    void forget_if_compared(Groups::iterator group);

    runtime::Node& node_;
    runtime::SpinLock lock_;  ///< over what follows
    std::uint32_t next_ = 0;
    std::map<NodeId, std::uint32_t> ended_;
    Groups groups_;
};

}  // namespace heddle::dataflow
