// A cluster as schedulers and partitioners see it: workers, their speeds, and the cost of a message between
// two nodes. The cost is that of a message that has the network to itself; contention is not described.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/placement.hpp"
#include "base/route_table.hpp"

namespace heddle {

struct ClusterView {
    WorkerGrid grid;
    /// Flops per second of the core that work in seconds refers to: `platform.core_speed`, before the factors
    /// of nodes and cores; of a platform file, the speed of its first host.
    double core_speed = 1;
    double message_seconds = 0;   ///< of an empty message between nodes: latency and overheads; the mean
    double seconds_per_byte = 0;  ///< of a message between nodes, besides; the mean
    std::vector<std::uint32_t> group = {};  ///< of each node; nodes of one group are near. Empty: one group

    /// Of each worker, flops per second. Empty: `core_speed` for all.
    std::vector<double> speeds = {};
    /// Between nodes, overheads included, in place of the means. Null: every two nodes are as far from each
    /// other as the means say. Where it is there, tasks and messages take whole picoseconds, as in
    /// simulation.
    std::shared_ptr<const RouteTable> routes = {};
    /// With `routes`: what a message carries besides the bytes of its edge.
    double bytes_besides = 0;

    /// How many of the nodes are in this process, and take its memory. Nothing: all, as in simulation.
    std::optional<NodeId> nodes_here = {};

    /// Which part of data that are dealt out over all nodes takes memory of this process.
    double share_here() const { return static_cast<double>(nodes_here.value_or(grid.nodes)) / grid.nodes; }
};

}  // namespace heddle
