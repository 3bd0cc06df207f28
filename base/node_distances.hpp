// Tells which nodes are near each other, and how long a small message between two nodes takes. The memory
// grows with the nodes and with the pairs of groups, never with the pairs of nodes. Knows no bandwidth and no
// contention.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/route_table.hpp"
#include "base/time.hpp"

namespace heddle {

class NodeDistances {
public:
    /// The one-way latency between two different nodes.
    using Latency = std::function<Time(NodeId from, NodeId to)>;

    /// All nodes are one group, and every two are `latency` apart.
    explicit NodeDistances(NodeId nodes = 1, Time latency = {});

    /// `labels`: of each node, a number that the nodes of its group share. `latency` is asked for pairs of
    /// neighbours within a group and of first nodes of two groups, which represent all pairs of these groups.
    /// If there are more than `groups_max` groups, it is not asked, and every two nodes are `mean` apart.
    NodeDistances(const std::vector<std::uint32_t>& labels, const Latency& latency, Time mean);

    /// The same groups, with exact latencies. The table must be equal or a tree: other tables fetch rows, and
    /// several threads must not ask them at a time.
    NodeDistances(const std::vector<std::uint32_t>& labels, RouteTable exact);

    NodeId nodes() const { return static_cast<NodeId>(group_.size()); }
    std::uint32_t groups() const { return static_cast<std::uint32_t>(first_.size() - 1); }

    /// A number below `groups()`; groups are counted in the order of their first nodes.
    std::uint32_t group(NodeId node) const { return group_[node]; }

    /// Whether two nodes are in different groups.
    bool far(NodeId from, NodeId to) const { return groups() > 1 && group(from) != group(to); }

    /// The nodes of a group, in ascending order.
    std::span<const NodeId> members(std::uint32_t group) const {
        return std::span(members_).subspan(first_[group], first_[group + 1] - first_[group]);
    }

    /// How long a small message is under way if it has the network to itself: exactly, or as between the
    /// nodes that represent the two groups. Zero for a node and itself, and where no latency is known. Safe
    /// to call from several threads.
    Time latency(NodeId from, NodeId to) const;

    static constexpr std::uint32_t groups_max = 32;

private:
    void sort(const std::vector<std::uint32_t>& labels);

    std::vector<std::uint32_t> group_;  ///< of each node
    std::vector<NodeId> members_;       ///< group by group
    std::vector<std::size_t> first_;    ///< of each group, where its nodes begin; one more at the end
    std::vector<Time> between_;         ///< a row for each group; empty: `mean_`
    std::optional<RouteTable> exact_;
    Time mean_{};
};

}  // namespace heddle
