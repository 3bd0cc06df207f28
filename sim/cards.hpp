// Says which machine and which network card a simulated node uses. No other file computes this from a node's
// number.
#pragma once

#include "base/ids.hpp"

namespace heddle::sim {

/// Neighbouring nodes share a machine. Counted from 0.
using MachineId = NodeId;

/// A host of SimGrid. All nodes of a machine send and receive by the same card.
using CardId = NodeId;

class Cards {
public:
    /// `processes`: nodes of each machine.
    explicit Cards(NodeId processes) : processes_(processes) {}

    NodeId processes() const { return processes_; }
    MachineId machine(NodeId node) const { return node / processes_; }
    CardId card(NodeId node) const { return node / processes_; }

private:
    NodeId processes_;
};

}  // namespace heddle::sim
