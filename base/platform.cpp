// Checks a platform's values, fills in what was left out, and finds a shape for its network.
#include "base/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/assert.hpp"
#include "base/platform_networks.hpp"

namespace heddle {

namespace {

using std::chrono::nanoseconds;
using Shape = std::vector<std::uint32_t>;

std::uint64_t product(const Shape& shape) {
    std::uint64_t result = 1;
    for (const std::uint32_t extent : shape) {
        // Far above any node count, and far below where the multiplication could overflow.
        if (extent != 0 && result > (std::uint64_t{1} << 31)) return result;
        result *= extent;
    }
    return result;
}

std::uint32_t divide_up(std::uint64_t whole, std::uint64_t part) {
    return static_cast<std::uint32_t>((whole + part - 1) / part);
}

/// How bad a shape is: unused hosts, and extents that are far apart. Smaller is better.
double cost(std::uint64_t nodes, const Shape& shape) {
    const auto [least, most] = std::minmax_element(shape.begin(), shape.end());
    const double unused = static_cast<double>(product(shape)) / static_cast<double>(nodes) - 1;
    return 32 * unused + std::log2(static_cast<double>(*most) / static_cast<double>(*least));
}

class Best {
public:
    explicit Best(std::uint64_t nodes) : nodes_(nodes) {}

    void consider(const Shape& shape) {
        const double found = cost(nodes_, shape);
        if (found < cost_) {
            cost_ = found;
            shape_ = shape;
        }
    }
    const Shape& shape() const { return shape_; }

private:
    std::uint64_t nodes_;
    double cost_ = std::numeric_limits<double>::infinity();
    Shape shape_;
};

/// Up to 24 nodes on one switch; up to 1024 in two levels; beyond that three.
Shape fat_tree_shape(std::uint32_t nodes) {
    constexpr std::uint32_t one_switch = 24;
    if (nodes <= one_switch) return {nodes};
    Best best(nodes);
    const bool two_levels = nodes <= 1024;
    for (std::uint32_t leaf = 4; leaf <= 64; ++leaf) {
        const std::uint32_t leaves = divide_up(nodes, leaf);
        if (two_levels) {
            best.consider({leaf, leaves});
        } else {
            for (std::uint32_t middle = 4; middle <= 64; ++middle) {
                best.consider({leaf, middle, divide_up(leaves, middle)});
            }
        }
    }
    return best.shape();
}

/// As near to a cube as the node count allows.
Shape torus_shape(std::uint32_t nodes) {
    if (nodes <= 3) return {nodes};
    Best best(nodes);
    for (std::uint64_t x = 1; x * x * x <= nodes; ++x) {
        for (std::uint64_t y = x; x * y * y <= nodes + x * y; ++y) {
            best.consider(
                {divide_up(nodes, x * y), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x)});
        }
    }
    Shape shape = best.shape();
    std::sort(shape.rbegin(), shape.rend());
    while (shape.back() == 1) shape.pop_back();
    return shape;
}

/// Groups, chassis, routers and nodes of about the same number. No more groups than routers in a chassis:
/// SimGrid's routes go out to group g over router g of a chassis.
Shape dragonfly_shape(std::uint32_t nodes) {
    if (nodes <= 2) return {1, 1, 1, nodes};
    Best best(nodes);
    constexpr std::uint32_t most = 48;
    for (std::uint32_t per_router = 1; per_router <= most; ++per_router) {
        for (std::uint32_t routers = 1; routers <= most; ++routers) {
            for (std::uint32_t chassis = 1; chassis <= most; ++chassis) {
                const std::uint32_t groups = divide_up(nodes, std::uint64_t{per_router} * routers * chassis);
                if (groups <= routers) best.consider({groups, chassis, routers, per_router});
                if (groups == 1) break;
            }
        }
    }
    if (best.shape().empty()) {
        throw Error(fmt::format("no shape of a dragonfly is known for {} nodes", nodes),
                    "state platform.network.shape: groups, chassis, routers, nodes per router");
    }
    return best.shape();
}

/// As many cables above a switch as below it, so that any half of the nodes can talk to the other half.
Shape full_bisection(const Shape& shape) {
    Shape cables(shape.size());
    std::uint64_t below = 1;
    for (std::size_t level = 0; level < shape.size(); ++level) {
        cables[level] = static_cast<std::uint32_t>(std::min<std::uint64_t>(below, 1U << 20));
        below *= shape[level];
    }
    return cables;
}

void check_shape(const Platform& platform) {
    using Topology = Network::Topology;
    const Network& network = platform.network;
    const Shape& shape = network.shape;
    std::string text;
    for (const std::uint32_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
    if (network.topology == Topology::star) {
        if (!shape.empty()) throw Error("a star has no shape", "leave platform.network.shape out");
        return;
    }
    if (network.topology == Topology::dragonfly && shape.size() != 4) {
        throw Error(fmt::format("the shape of a dragonfly has four numbers, not {}", shape.size()),
                    "groups, chassis per group, routers per chassis, nodes per router");
    }
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) {
        throw Error(fmt::format("a zero in the shape {}", text), "every extent is at least 1");
    }
    if (network.topology == Topology::torus && std::count(shape.begin(), shape.end(), 1U) > 1) {
        throw Error(fmt::format("the shape {} of a torus has several extents of 1", text),
                    "leave them out of platform.network.shape: they join no nodes");
    }
    const std::uint64_t holds = product(shape);
    if (holds < platform.machines()) {
        throw Error(fmt::format("the shape {} holds {} {}, not {}", text, holds,
                                platform.processes == 1 ? "nodes" : "machines", platform.machines()),
                    "enlarge platform.network.shape, or leave it out: it is then chosen");
    }
    if (holds > (1U << 24)) {
        throw Error(fmt::format("the shape {} holds more than 16 million nodes", text),
                    "make platform.network.shape smaller");
    }
    if (network.topology == Topology::dragonfly && shape[0] > shape[2]) {
        throw Error(
            fmt::format("{} groups, but only {} routers in a chassis", shape[0], shape[2]),
            "routes leave a group over the router that has the other group's number: state at least as "
            "many routers per chassis as groups");
    }
}

void check_cables(const Network& network) {
    if (network.topology != Network::Topology::fat_tree) {
        if (!network.cables.empty()) {
            throw Error(fmt::format("a {} has no cables", name(network.topology)),
                        "platform.network.cables is for fat_tree only");
        }
        return;
    }
    if (network.cables.size() != network.shape.size()) {
        throw Error(fmt::format("{} levels of cables for a tree of {} levels", network.cables.size(),
                                network.shape.size()),
                    "state one number of cables for each level of platform.network.shape");
    }
    if (std::find(network.cables.begin(), network.cables.end(), 0U) != network.cables.end()) {
        throw Error("a level without cables", "every number in platform.network.cables is at least 1");
    }
}

void check_positive(double value, const char* what) {
    if (value > 0 && std::isfinite(value)) return;
    throw Error(fmt::format("platform.{} is {}", what, value), "state a number above zero");
}

void check_machines(const Platform& platform) {
    if (platform.processes == 0) throw Error("machines of zero processes", "state 1 or more");
    if (platform.nodes % platform.processes != 0) {
        throw Error(fmt::format("{} nodes do not fill machines of {} processes each", platform.nodes,
                                platform.processes),
                    "platform.nodes counts the processes on all machines: make it a multiple of "
                    "platform.processes");
    }
    if (platform.shared_memory.latency < Time::zero())
        throw Error("a shared memory of negative latency", "state 0 or more");
    check_positive(platform.shared_memory.bandwidth, "shared_memory.bandwidth");
    if (platform.cache.line == 0) throw Error("a cache line of zero bytes", "state 1 or more");
}

void check(Platform& platform) {
    if (platform.file.empty() && !platform.hosts.empty()) {
        throw Error("platform.hosts chooses hosts of a platform file, and none is stated",
                    "state platform.file, or leave platform.hosts out");
    }
    if (platform.nodes == 0 && (platform.file.empty() || platform.stated_nodes)) {
        throw Error("a platform of zero nodes", "state at least one in platform.nodes");
    }
    if (platform.cores == 0 && platform.stated_cores) {
        throw Error("nodes of zero cores", "state at least one in platform.cores");
    }
    if (platform.file.empty() || platform.stated_nodes) check_machines(platform);
    check_positive(platform.core_speed, "core_speed");
    for (const double bandwidth : platform.memory_bandwidth.by_streams())
        check_positive(bandwidth, "memory_bandwidth");
    if (platform.core_memory_bandwidth != 0)
        check_positive(platform.core_memory_bandwidth, "core_memory_bandwidth");
    check_positive(platform.disk.bandwidth, "disk.bandwidth");
    if (platform.disk.latency < Time::zero()) throw Error("a disk of negative latency", "state 0 or more");
    Network& network = platform.network;
    check_positive(network.bandwidth, "network.bandwidth");
    if (network.latency < Time::zero() || network.gap < Time::zero()) {
        throw Error("a negative latency or gap", "times are zero or above");
    }
    complete_networks(platform);
    complete_link_events(platform);
    if (!platform.file.empty())
        return;  // the file says how many nodes there are, and what the network looks like
    complete_nodes(platform);

    if (network.shape.empty()) {
        switch (network.topology) {
            case Network::Topology::star:
                break;
            case Network::Topology::fat_tree:
                network.shape = fat_tree_shape(platform.machines());
                break;
            case Network::Topology::torus:
                network.shape = torus_shape(platform.machines());
                break;
            case Network::Topology::dragonfly:
                network.shape = dragonfly_shape(platform.machines());
                break;
        }
    }
    check_shape(platform);
    if (network.topology == Network::Topology::fat_tree && network.cables.empty()) {
        network.cables = full_bisection(network.shape);
    }
    check_cables(network);
}

}  // namespace

Time time_of_bytes(const std::vector<MessageBytes>& sizes, Time MessageBytes::*end, std::uint64_t bytes) {
    auto above = std::ranges::lower_bound(sizes, bytes, {}, &MessageBytes::size);
    if (above == sizes.end()) --above;
    const MessageBytes below = above == sizes.begin() ? MessageBytes{} : *(above - 1);
    const TimeSum rise = TimeSum((*above).*end) - TimeSum(below.*end);
    const TimeSum time = TimeSum(below.*end) + rise * static_cast<std::int64_t>(bytes - below.size) /
                                                   static_cast<std::int64_t>(above->size - below.size);
    if (time > TimeSum(last_moment)) refuse_moment();
    return Time(static_cast<std::int64_t>(time.count()));
}

// Round numbers of the right order for a current core and a fast network; docs/platforms.md says what each
// stands for.
Overheads Overheads::defaults() {
    Overheads costs;
    costs.fork = nanoseconds(2);
    costs.join = nanoseconds(2);
    costs.steal_attempt = nanoseconds(40);
    costs.steal = nanoseconds(150);
    costs.steal_far = nanoseconds(100);
    costs.readiness = nanoseconds(2);
    costs.sync = nanoseconds(5);
    costs.strand = nanoseconds(50);
    costs.strand_switch = nanoseconds(10);
    costs.token = nanoseconds(30);
    costs.message_enqueue = nanoseconds(60);
    costs.message_send = nanoseconds(400);
    costs.message_receive = nanoseconds(400);
    costs.poll = nanoseconds(500);
    costs.wake_up = nanoseconds(1500);
    costs.page_fault = nanoseconds(2000);
    costs.page_protect = nanoseconds(1000);
    costs.page_fill = nanoseconds(1000);
    costs.page_diff_kib = nanoseconds(100);
    return costs;
}

const char* name(Network::Topology topology) {
    switch (topology) {
        case Network::Topology::star:
            return "star";
        case Network::Topology::fat_tree:
            return "fat_tree";
        case Network::Topology::torus:
            return "torus";
        case Network::Topology::dragonfly:
            return "dragonfly";
    }
    HEDDLE_ASSERT(false);
}

const char* name(Network::CostModel cost_model) {
    switch (cost_model) {
        case Network::CostModel::CM02:
            return "CM02";
        case Network::CostModel::LV08:
            return "LV08";
    }
    HEDDLE_ASSERT(false);
}

const char* name(Network::Contention contention) {
    switch (contention) {
        case Network::Contention::full:
            return "full";
        case Network::Contention::exact:
            return "exact";
        case Network::Contention::none:
            return "none";
    }
    HEDDLE_ASSERT(false);
}

void complete(Platform& platform) {
    try {
        check(platform);
    } catch (const Error& error) {
        throw error.at(platform.where);
    }
}

}  // namespace heddle
