// Finds out which routes of a platform in SimGrid are alike, so that SimGrid computes only one of each kind.
#pragma once

#include <simgrid/forward.h>
#include <functional>
#include <vector>

#include "base/platform.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

/// `platform` is complete and its links do not change; `hosts` are its nodes. `regular`: what a platform file
/// states of its shape. `route` asks SimGrid for a route. A structure is compared with SimGrid for all pairs
/// of some nodes. The result is `Kind::none` if that fails, or if the platform has no structure known here.
RouteStructure find_structure(const Platform& platform, const RouteStructure& regular,
                              const std::vector<simgrid::s4u::Host*>& hosts,
                              const std::function<RouteFacts(NodeId, NodeId)>& route);

}  // namespace heddle::sim
