// Numbers of nodes, cores and workers in a run. They are plain integers, so that messages can carry them.
#pragma once

#include <compare>
#include <cstdint>

namespace heddle {

/// One process of the run, 0 to nodes - 1. Neighbouring nodes may share a machine (`platform.processes`).
using NodeId = std::uint32_t;

/// One core of a node, 0 to cores - 1. The worker on it has the same number.
using CoreId = std::uint32_t;

/// One worker of the whole run: the scheduler's thread of control on a core.
struct WorkerId {
    NodeId node = 0;
    CoreId core = 0;

    friend constexpr auto operator<=>(const WorkerId&, const WorkerId&) = default;
};

}  // namespace heddle
