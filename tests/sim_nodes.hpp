// For tests of unequal and changing nodes: events, and a piece of work on every core.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {

inline NodeEvent speed(Time at, NodeId node, double factor) {
    return {.at = at, .node = node, .speed = factor};
}
inline NodeEvent stop(Time at, NodeId node) {
    return {.at = at, .node = node, .stop = true};
}
inline NodeEvent go_on(Time at, NodeId node) {
    return {.at = at, .node = node, .stop = false};
}

/// Eight nodes on four machines. One stops for a while, and one becomes slower.
inline Platform changing_machines() {
    Platform platform;
    platform.nodes = 8;
    platform.cores = 3;
    platform.processes = 2;
    platform.events = {stop(us(12), 3), go_on(us(40), 2), speed(us(10), 0, 0.5)};
    return platform;
}

/// When each core of each node has done `work`, one node after the other.
inline std::vector<Time> ends_of(const Platform& platform, const runtime::Work& work,
                                 std::uint64_t seed = 1) {
    std::vector<Time> ends(std::size_t{platform.nodes} * platform.cores);
    run(platform,
        [&](Script&, Context& context) {
            compute(context, work);
            ends[context.id.node * platform.cores + context.id.core] = now(context);
        },
        {}, {.seed = seed});
    return ends;
}

}  // namespace heddle::sim::testing
