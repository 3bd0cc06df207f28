// The nodes that take part in a run at one time, in the numbering that what goes through all of them uses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/backend.hpp"

namespace heddle::runtime {

/// Each change of the members has an epoch, counted from 0 at the start; node 0 gives them out.
using Epoch = std::uint32_t;

/// How a node takes part in a run whose nodes change.
struct Membership {
    Time began{};  ///< when it joined
    Time ended{};  ///< when it left; zero: not before the end
};

struct MemberList {
    Epoch epoch = 0;
    std::vector<NodeId> nodes;  ///< ascending
    const Topology* all;        ///< of all nodes that there may be
    /// These nodes only, renumbered by their place in `nodes`: what a victim policy chooses from.
    Topology topology;

    MemberList(Epoch number, std::vector<NodeId> members, const Topology& of_all)
        : epoch(number), nodes(std::move(members)), all(&of_all), topology(of_all) {
        const auto count = static_cast<NodeId>(nodes.size());
        topology.nodes = count;
        std::vector<std::uint32_t> labels;
        for (const NodeId node : nodes) labels.push_back(of_all.distances.group(node));
        topology.group = labels;
        topology.distances = NodeDistances(
            labels, [&](NodeId from, NodeId to) { return of_all.distances.latency(nodes[from], nodes[to]); },
            of_all.latency);
    }

    bool contains(NodeId node) const { return std::ranges::binary_search(nodes, node); }
    /// Of a member.
    NodeId place_of(NodeId node) const {
        return static_cast<NodeId>(std::ranges::lower_bound(nodes, node) - nodes.begin());
    }
};

}  // namespace heddle::runtime
