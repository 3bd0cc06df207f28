// Finds out which routes of a platform in SimGrid are alike, so that SimGrid computes only one of each kind.
#pragma once

#include <simgrid/forward.h>
#include <functional>
#include <vector>

#include "base/platform.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

/// `platform` is complete and its links do not change; `hosts` are its nodes. `route` asks SimGrid for a
/// route. What is found is compared with SimGrid for all pairs of some nodes. `Kind::none` where that fails,
/// or where the platform has no structure that is known here.
RouteStructure find_structure(const Platform& platform, const std::vector<simgrid::s4u::Host*>& hosts,
                              const std::function<RouteFacts(NodeId, NodeId)>& route);

}  // namespace heddle::sim
