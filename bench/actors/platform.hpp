// The platform of a Heddle configuration as a plain SimGrid program builds it: hosts, links and routes. Only
// for comparisons; the simulator's own is in sim/simgrid_platform.cpp. Reads no platform file.
#pragma once

#include <simgrid/forward.h>
#include <cstdint>
#include <vector>

#include "base/platform.hpp"

namespace heddle::actors {

struct Hosts {
    std::vector<simgrid::s4u::Host*> of_node;  ///< in the order of the nodes
    std::vector<std::uint32_t> group;          ///< runtime::Topology::group
};

/// Starts SimGrid with the settings that Heddle gives it, apart from latency, all of which is SimGrid's here,
/// and builds a star or a fat tree. `platform` is complete. `extra`: more words for SimGrid's command line.
/// Throws Error for what it cannot build. Once in the life of a process.
Hosts build_platform(const Platform& platform, const std::vector<std::string>& extra);

}  // namespace heddle::actors
