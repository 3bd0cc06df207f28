// The cluster as placement sees it: workers, their speed, and what a message between nodes costs. No
// contention, no topology but groups of near nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/placement.hpp"

namespace heddle {

struct ClusterView {
    WorkerGrid grid;
    double core_speed = 1;                  ///< flops per second, of every core
    double message_seconds = 0;             ///< of an empty message between nodes: latency and overheads
    double seconds_per_byte = 0;            ///< of a message between nodes, besides
    std::vector<std::uint32_t> group = {};  ///< of each node; nodes of one group are near. Empty: one group
};

}  // namespace heddle
