// How fast each of several nodes is, and which are slower than the others.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "calibration/readings.hpp"

namespace heddle::calibration {

/// One node. Both are shares of the median of all nodes: 0.7 is 30% slower.
struct NodeSpeed {
    NodeId node = 0;
    double core = 1;    ///< arithmetic of a core
    double memory = 1;  ///< copies through memory

    /// A tenth is more than what differs between machines of one kind that nothing else uses.
    bool is_slow() const { return core < slow || memory < slow; }

private:
    static constexpr double slow = 0.9;
};

/// In the order of the nodes, from the readings of `node_probe`.
std::vector<NodeSpeed> node_speeds_of(const Readings& readings);

}  // namespace heddle::calibration
