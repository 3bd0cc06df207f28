// Makes SimGrid's hosts, links and routes for a platform. It does not read them back:
// sim/simgrid_platform.cpp does.
#pragma once

#include <simgrid/forward.h>
#include <vector>

#include "base/platform.hpp"

namespace heddle::sim {

/// Builds the platform, or loads it; the hosts are in the order of the nodes. Once in the life of a process.
std::vector<simgrid::s4u::Host*> build(const simgrid::s4u::Engine& engine, const Platform& platform);

/// Throws Error for a link or a host with a figure that no hardware has: SimGrid builds it, and breaks later.
void check_figures(const simgrid::s4u::Engine& engine, const std::vector<simgrid::s4u::Host*>& hosts);

}  // namespace heddle::sim
