// Latency and bandwidth between each two nodes, for a message that has the network to itself. Equal distances
// and trees of switches are stored without a table of pairs. For other networks a caller's function gives a
// node's row when it is first needed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle {

class RouteTable {
public:
    struct Route {
        Time latency{};
        double bandwidth = std::numeric_limits<double>::infinity();  ///< bytes per second

        /// How long a message of so many bytes is under way, rounded as a simulation rounds it. Throws Error
        /// beyond the range of Time.
        Time of(double bytes) const { return checked_sum(latency, from_seconds(bytes / bandwidth)); }
    };
    /// The routes from one node to all nodes; the entry of the node to itself is not looked at.
    using Fetch = std::function<std::vector<Route>(NodeId from)>;

    /// Every two nodes are equally far from each other.
    static RouteTable equal(Route route);

    /// A tree of switches: `below[level]` neighbouring nodes share a switch of that level, and two nodes have
    /// the route of the lowest level at which they share one.
    static RouteTable tree(NodeId nodes, std::vector<NodeId> below, std::vector<Route> at_level);

    /// Any network. `fetch` must outlive the table's use; it is called once for a node at most.
    static RouteTable rows(NodeId nodes, Fetch fetch);

    /// The table in plain numbers, all rows fetched.
    struct Plain {
        NodeId nodes = 1;
        std::vector<Route> kinds;
        std::vector<NodeId> below;                     ///< of a tree: then kinds are its levels'
        std::vector<std::vector<std::uint32_t>> rows;  ///< the kind of each pair; empty for trees
    };
    Plain plain() const;

    /// The table again. Throws Error for sizes and kinds that do not fit each other.
    static RouteTable of(Plain plain);

    /// How many nodes the table tells apart.
    NodeId nodes() const { return nodes_; }

    /// Whether all pairs are known to be equally far from each other.
    bool uniform() const { return uniform_; }

    /// `from` and `to` differ. Not for several threads at a time: a row may be fetched.
    const Route& between(NodeId from, NodeId to) const;

    /// The first node after `to` whose route from `from` may be another one; nodes() if there is none. The
    /// nodes in between, `from` left out, have the route of `to`. As between().
    NodeId same_until(NodeId from, NodeId to) const;

    /// Over all pairs of different nodes; on networks of more than `rows_all` nodes that are neither equal
    /// nor a tree, over the routes from some of the nodes. Zeros for a single node.
    struct Mean {
        double latency = 0;  ///< seconds
        double seconds_per_byte = 0;
    };
    Mean mean() const;

    /// No route has less or more, each figure by itself. On networks whose mean is a sample: 0 and infinity.
    struct Bounds {
        Mean least, most{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    };
    Bounds bounds() const;

    static constexpr NodeId rows_all = 64;

private:
    const std::vector<std::uint32_t>& row(NodeId from) const;
    std::vector<std::uint64_t> pairs_at_level() const;
    std::vector<NodeId> sources() const;

    NodeId nodes_ = 1;
    bool uniform_ = false;
    std::vector<NodeId> below_;
    Fetch fetch_;
    mutable std::vector<Route> kinds_;  ///< of a tree: by level
    mutable std::map<std::pair<std::int64_t, double>, std::uint32_t> kind_of_;
    mutable std::vector<std::vector<std::uint32_t>> rows_;  ///< kinds; empty: not fetched yet
};

}  // namespace heddle
