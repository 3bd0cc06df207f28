// Finds what groups of nodes can send each other: how many bytes, if all nodes of a group send at once.
#pragma once

#include "base/node_distances.hpp"
#include "runtime/backend.hpp"
#include "sim/cards.hpp"
#include "sim/simgrid_process.hpp"

namespace heddle::sim {

/// The mean over some of the groups, always the same ones. Zeros where there is one group, a group for each
/// node, or more than NodeDistances::groups_max.
runtime::Crossing crossing(SimgridProcess& simgrid, const Cards& cards, const NodeDistances& distances);

}  // namespace heddle::sim
