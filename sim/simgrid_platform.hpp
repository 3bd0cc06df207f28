// All that the simulator asks of SimGrid, in plain types: hosts, routes, and the sharing of bandwidth between
// large messages. It includes no SimGrid header: sim/simgrid_module.hpp loads the code behind it. SimGrid
// keeps its state in globals, changes signal handlers and aborts the process on a bad file. So this object
// lives in a process of its own, which sim/simgrid_process.hpp starts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sim/link_changes.hpp"
#include "sim/route_structure.hpp"

namespace heddle::sim {

/// One link of a route, before all changes.
struct LinkFacts {
    std::uint32_t number = 0;  ///< the same link has the same number on all routes; from 0
    double bandwidth = 0;      ///< bytes per second
};

struct HostFacts {
    double speed = 0;  ///< flops per second, each core
    std::uint32_t cores = 1;
    std::uint32_t group = 0;  ///< switch, group, row or zone
    LinkFacts out{};          ///< in a tree: the link with which all its routes begin
    LinkFacts in{};           ///< in a tree: the link with which all routes to it end
};

/// A link for people, at first and with the factors of the cost model.
struct NamedLink {
    std::string name;
    Time latency{};
    double bandwidth = 0;  ///< bytes per second
};

/// A route as messages feel it, that is, with the factors of the cost model, before all changes.
struct RouteFacts {
    Time latency{};
    double bandwidth = 0;      ///< bytes per second, of the narrowest link
    std::uint32_t links = 0;   ///< how many there are on the way
    std::uint32_t shared = 0;  ///< of these, links whose bandwidth is shared by the messages on them
    LinkFacts first;           ///< of the shared ones, if there are any
    LinkFacts last;
    std::uint32_t course = 0;  ///< a number for `SimgridPlatform::course`; 0: it does not change with time

    bool exists() const { return bandwidth > 0; }
};

struct PlatformFacts {
    std::vector<HostFacts> hosts;  ///< the nodes, in their order
    std::uint64_t links = 0;
    std::uint32_t groups = 0;

    /// No route between two different nodes ever has a smaller latency. `never` for a single node.
    Time lookahead = never;
    std::vector<LinkChange> changes;  ///< in the order of time

    /// How many neighbouring nodes are below one switch of each level, where the platform is a tree whose
    /// links are all alike: then all routes whose ends meet at the same level are. Else empty.
    std::vector<NodeId> tree;

    /// Of a platform that is no tree and whose links do not change.
    RouteStructure structure;

    /// The lowest level at which two nodes of a tree meet.
    std::size_t meeting_level(NodeId a, NodeId b) const {
        std::size_t level = 0;
        while (a / tree[level] != b / tree[level]) ++level;
        return level;
    }
    std::vector<std::string> notes;
};

/// A large message whose bandwidth phase begins at `start`. Flows begin in the order of (start, from, id).
struct FlowStart {
    std::uint64_t id = 0;
    Time start{};
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t bytes = 0;
};

struct FlowEnd {
    std::uint64_t id = 0;
    Time end{};
};

class SimgridPlatform {
public:
    virtual ~SimgridPlatform() = default;

    const PlatformFacts& facts() const { return facts_; }
    void add_note(std::string note) { facts_.notes.push_back(std::move(note)); }
    virtual RouteFacts route(NodeId from, NodeId to) = 0;

    /// How a route changes with time, by the number in its facts.
    virtual const RouteCourse& course(std::uint32_t number) const = 0;

    /// All links, in the order of their names.
    virtual std::vector<NamedLink> named_links() const = 0;

    /// The links of a route whose bandwidth is shared by the messages on them.
    virtual std::vector<LinkFacts> links(NodeId from, NodeId to) = 0;

    /// Remembers a flow until its time has come. It must not lie before the time reached so far.
    virtual void add(const FlowStart& flow) = 0;

    /// Goes to time `until`, or to the first time before that at which flows end, and appends these to
    /// `ends`.
    virtual void advance(Time until, std::vector<FlowEnd>& ends) = 0;

    /// No flow ends before this, provided that none begins before it either, apart from those added already.
    virtual Time quiet_until() const = 0;

protected:
    PlatformFacts facts_;
};

}  // namespace heddle::sim
