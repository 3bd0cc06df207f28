// Says which machine and which network card a simulated node uses. No other file computes this from a node's
// number.
#pragma once

#include <vector>

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
        card_.resize(nodes / processes);
        CardId next = 0;
        for (const NodeId member : members)
            if (member % processes == 0) card_[machine(member)] = next++;
    }

    NodeId nodes() const { return nodes_; }
    MachineId machine(NodeId node) const { return node / processes_; }
    CardId card(NodeId node) const { return card_.empty() ? machine(node) : card_[machine(node)]; }

private:
    NodeId nodes_;
    NodeId processes_;
    std::vector<CardId> card_;  ///< of each machine; empty: its own number
};

}  // namespace heddle::sim
