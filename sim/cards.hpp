// Says which machine and which network card a simulated node uses. No other file computes this from a node's
// number.
#pragma once

#include <vector>

#include "base/assert.hpp"
#include "base/ids.hpp"

namespace heddle::sim {

/// Neighbouring nodes share a machine. Counted from 0.
using MachineId = NodeId;

/// A host of SimGrid, counted from 0 in each network. All nodes of a machine send and receive by the same
/// card.
using CardId = NodeId;

/// Of one network.
class Cards {
public:
    /// Every machine is in the network. `processes`: nodes of each machine.
    Cards(NodeId nodes, NodeId processes) : nodes_(nodes), processes_(processes) {}

    /// The machines of `members` are, in this order.
    Cards(NodeId nodes, NodeId processes, const std::vector<NodeId>& members) : Cards(nodes, processes) {
        card_.resize(nodes / processes, none);
        CardId next = 0;
        for (const NodeId member : members)
            if (member % processes == 0) card_[machine(member)] = next++;
    }

    NodeId nodes() const { return nodes_; }
    MachineId machine(NodeId node) const { return node / processes_; }
    /// The node's machine must be in the network.
    CardId card(NodeId node) const {
        if (card_.empty()) return machine(node);
        const CardId card = card_[machine(node)];
        HEDDLE_ASSERT(card != none);
        return card;
    }

private:
    static constexpr CardId none = ~CardId{0};

    NodeId nodes_;
    NodeId processes_;
    std::vector<CardId> card_;  ///< of each machine, or `none`; empty: its own number
};

}  // namespace heddle::sim
