// Runs SimGrid in a child process, one for each simulation. SimGrid allows one simulation in the life
// of a process, because its clock, platform and numbering of fat trees are globals. It also takes over
// signal handlers and aborts on some bad files. In a child process none of this does harm. A call
// costs some 10 us, so routes are asked for by rows, flows and the links of pairs by batches. The
// simulator itself is elsewhere.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/platform_file.hpp"
#include "sim/simgrid_platform.hpp"

namespace heddle::sim {

struct NodePair {
    NodeId from = 0;
    NodeId to = 0;
};

class SimgridProcess {
public:
    /// Starts the process and builds the platform there. `platform` is complete, `file` is its own. Throws
    /// Error where it cannot be built.
    SimgridProcess(const Platform& platform, const PlatformFile& file);
    explicit SimgridProcess(const Platform& platform) : SimgridProcess(platform, file_of(platform)) {}
    ~SimgridProcess();

    const PlatformFacts& facts() const { return facts_; }

    /// The routes from one node to `count` others, beginning with `first`. The entry of a node to itself is
    /// empty.
    std::vector<RouteFacts> routes(NodeId from, NodeId first, NodeId count);

    /// The same to one node, from `count` others.
    std::vector<RouteFacts> routes_to(NodeId to, NodeId first, NodeId count);

    /// SimgridPlatform::course.
    RouteCourse course(std::uint32_t number);

    /// SimgridPlatform::named_links.
    std::vector<NamedLink> named_links();

    /// SimgridPlatform::links.
    std::vector<LinkFacts> links(NodeId from, NodeId to);

    /// The same of several pairs, in their order.
    std::vector<std::vector<LinkFacts>> links(std::span<const NodePair> pairs);

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
