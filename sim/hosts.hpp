// From nodes to the hosts of SimGrid and back: each host is a machine of `platform.processes` nodes.
#pragma once

#include <string>
#include <vector>

#include "base/platform.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

/// What SimGrid is to build: a platform of one node a machine. `platform` is complete.
Platform platform_of_hosts(const Platform& platform);

/// Fills in the counts and speeds that a file or a default decides, and notes what may be unexpected. Throws
/// Error if a host has fewer cores than processes.
void fill_in(Platform& platform, const PlatformFacts& facts, std::vector<std::string>& notes);

/// The same where several networks join the nodes, which no file describes.
void fill_in(Platform& platform);

/// Of the nodes of that host, if the YAML does not state it. Throws Error as `fill_in`, and if they are too
/// many.
CoreId cores_of_node(const Platform& platform, const HostFacts& host);

}  // namespace heddle::sim
