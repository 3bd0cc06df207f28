// SimGrid in a process of its own, started for each simulation. SimGrid allows one simulation in the life of
// a process (its clock, its sealed platform and the numbering of its fat trees are globals), takes over
// signal handlers, and aborts on some bad files; a child process makes each of these harmless, and each
// simulation the same as the first. A call costs some 10 us; routes come in rows, flows in batches. Simulates
// nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

class SimgridProcess {
public:
    /// Starts the process and builds the platform there. `platform` is complete. Throws Error where it cannot
    /// be built.
    explicit SimgridProcess(const Platform& platform);
    ~SimgridProcess();

    const PlatformFacts& facts() const { return facts_; }

    /// The routes from one node to `count` others, beginning with `first`. The entry of a node to itself is
    /// empty.
    std::vector<RouteFacts> routes(NodeId from, NodeId first, NodeId count);

    /// SimgridPlatform::course.
    RouteCourse course(std::uint32_t number);

    /// SimgridPlatform::named_links.
    std::vector<NamedLink> named_links();

    /// SimgridPlatform::links.
    std::vector<LinkFacts> links(NodeId from, NodeId to);

    struct Advance {
        std::vector<FlowEnd> ends;
        Time quiet_until{};
    };
    /// SimgridPlatform's add, advance and quiet_until in one go.
    Advance advance(std::span<const FlowStart> starts, Time until);

private:
    struct Child;
    std::unique_ptr<Child> child_;
    PlatformFacts facts_;
};

}  // namespace heddle::sim
