// Starts SimGrid's engine with one of Heddle's cost models. It makes no hosts: sim/simgrid/build.cpp does.
#pragma once

#include <simgrid/forward.h>

#include <cstdint>

#include "base/platform.hpp"

namespace heddle::sim {

/// What a cost model makes of a link's figures.
struct Factors {
    double latency = 1;
    double bandwidth = 1;
    double window = 0;  ///< bytes, SimGrid's TCP-gamma; 0: a flow's rate has no bound
    /// Whether latencies can change in SimGrid, where only sharing depends on them. Not with
    /// acknowledgements: it takes the latencies of their way for parts of a flow's own, and aborts where
    /// these get negative.
    bool changes_latency = true;
};

Factors factors(heddle::Network::CostModel cost_model);

/// What SimGrid computes when flows begin or end: the links of these and what depends on them, or all.
enum class Sharing : std::uint8_t { changed, whole };

/// LV08 is SimGrid's default network model, as it is; CM02 without the traffic of acknowledgements and
/// without a window, so that latency and bandwidth are what was written. `latency`: the part of it that
/// SimGrid sees. Once in the life of a process.
simgrid::s4u::Engine* start_engine(const Platform& platform, double latency,
                                   Sharing sharing = Sharing::changed);

}  // namespace heddle::sim
