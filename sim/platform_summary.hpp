// Summarizes a platform as built, for `heddle platform show`. Runs nothing on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/platform.hpp"
#include "base/route_table.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

struct PlatformSummary {
    std::string topology;  ///< star, fat_tree, torus, dragonfly, or the platform file
    std::vector<std::uint32_t> shape;
    NodeId nodes = 0;
    NodeId processes = 1;  ///< nodes of each machine
    SharedMemory shared_memory;
    CoreId cores_min = 0;  ///< of one node
    CoreId cores_max = 0;
    std::uint64_t cores_total = 0;
    double core_speed_min = 0;  ///< flops per second
    double core_speed_max = 0;
    MemoryBandwidth memory_bandwidth = 0;  ///< of one machine
    double core_memory_bandwidth = 0;      ///< bytes per second, the most of one core; 0: no such limit
    Cache cache;
    Disk disk;  ///< of one machine
    std::uint32_t groups = 0;
    std::uint64_t links = 0;

    // Over pairs of different machines: all of them on small platforms, otherwise a sample that is always the
    // same. All zero on one machine.
    std::uint64_t pairs = 0;
    Time latency_min{};
    Time latency_mean{};
    Time latency_max{};
    double bandwidth_min = 0;  ///< bytes per second, of the narrowest link of a route
    double bandwidth_max = 0;
    std::uint32_t hops_max = 0;  ///< links on the longest route: the diameter

    Time lookahead{};  ///< the window in which machines are simulated without looking at each other; 0 for
                       ///< one machine
    std::vector<NamedLink> named_links;  ///< in the order of their names; empty unless asked for
    std::string cost_model;
    std::vector<std::string> notes;  ///< see SimBackend::notes
};

class SimgridProcess;

/// What a message meets on its way that has the network to itself, on average over pairs of nodes.
struct RouteMeans {
    Time latency{};
    double bandwidth = 0;  ///< bytes per second: the inverse of the mean time of a byte
};

/// Looks at the routes of a few machines, always the same. Zeros for a single node.
RouteMeans mean_route(SimgridProcess& simgrid, const Platform& platform);

/// The routes between the nodes, as messages feel them at first. `besides` is added to every latency. The
/// process must outlive the table. Throws Error for nodes without a route between them.
/// Nodes of one machine have its shared memory for a route. `platform` is complete, with its counts filled
/// in.
RouteTable route_table(SimgridProcess& simgrid, const Platform& platform, Time besides);

/// Builds the platform as a simulation would and describes it, with or without all its links. Throws Error
/// where it cannot be built.
PlatformSummary describe(const Platform& platform, bool links = false);

}  // namespace heddle::sim
