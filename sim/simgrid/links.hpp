// Finds SimGrid's links by name, and computes how they change during a run by the platform's events. Messages
// and the cost model's factors are handled elsewhere.
#pragma once

#include <simgrid/forward.h>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/platform.hpp"

namespace heddle::sim {

class SimgridLinks {
public:
    using Link = simgrid::s4u::Link;

    /// A link from a moment on.
    struct Change {
        Time at{};
        Link* link = nullptr;
        double bandwidth = 0;  ///< bytes per second
        double latency = 0;    ///< seconds
    };
    /// A route from a moment on, its figures as written.
    struct RouteState {
        Time at{};
        double latency = 0;    ///< seconds
        double bandwidth = 0;  ///< bytes per second, of the narrowest link
    };

    /// Throws Error where an event names a link that is not there.
    SimgridLinks(const simgrid::s4u::Engine& engine, const std::vector<LinkEvent>& events);

    /// In the order of time.
    const std::vector<Change>& changes() const { return changes_; }

    /// The link is like this from now on. `latency`: that too; otherwise the bandwidth alone.
    static void make(const Change& change, bool latency);

    /// No link's latency is ever a smaller part of what it was at first. At most 1.
    double least_latency_factor() const { return least_latency_factor_; }

    /// The bandwidth before all changes.
    double bandwidth(const Link& link) const;

    /// A route at first, and after each change of one of its links. `latency`: what SimGrid says now.
    std::vector<RouteState> course(const std::vector<Link*>& links, double latency) const;

private:
    std::vector<Change> changes_;
    std::unordered_map<const Link*, Change> first_;  ///< what changes, before it does; never iterated over
    double least_latency_factor_ = 1;
};

/// All but the one that SimGrid makes for itself, in the order of their names.
std::vector<simgrid::s4u::Link*> links_of(const simgrid::s4u::Engine& engine);

}  // namespace heddle::sim
