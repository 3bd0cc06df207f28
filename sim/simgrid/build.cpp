// Builds a star, fat tree, torus or dragonfly by SimGrid's calls, and checks the figures of a platform file.
#include "sim/simgrid/build.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "sim/simgrid/links.hpp"

namespace heddle::sim {

namespace s4u = simgrid::s4u;

namespace {

/// Makes the hosts of a generated platform one after the other.
class HostMaker {
public:
    explicit HostMaker(const Platform& platform) : platform_(platform) {}

    s4u::Host* make(s4u::NetZone* zone) {
        auto* host = zone->create_host(fmt::format("node-{}", hosts_.size()), platform_.core_speed);
        host->set_core_count(static_cast<int>(std::max(platform_.cores, CoreId{1})))->seal();
        hosts_.push_back(host);
        return host;
    }
    const std::vector<s4u::Host*>& hosts() const { return hosts_; }

private:
    const Platform& platform_;
    std::vector<s4u::Host*> hosts_;
};

void build_star(const Platform& platform, HostMaker& maker) {
    auto* zone = s4u::create_star_zone("platform");
    for (NodeId i = 0; i < platform.nodes; ++i) {
        auto* host = maker.make(zone);
        auto* link = zone->create_split_duplex_link(fmt::format("link-{}", i), platform.network.bandwidth);
        link->set_latency(to_seconds(platform.network.latency))->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
    }
    zone->seal();
}

void build_regular(const Platform& platform, HostMaker& maker) {
    const heddle::Network& network = platform.network;
    using NetPoint = simgrid::kernel::routing::NetPoint;
    const std::function<s4u::ClusterCallbacks::ClusterNetPointCb> make_leaf =
        [&maker](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
            return std::pair<NetPoint*, NetPoint*>(maker.make(zone)->get_netpoint(), nullptr);
        };
    const s4u::ClusterCallbacks callbacks(make_leaf);
    const double latency = to_seconds(network.latency);
    const auto duplex = s4u::Link::SharingPolicy::SPLITDUPLEX;
    const auto& shape = network.shape;
    s4u::NetZone* zone = nullptr;
    switch (network.topology) {
        case heddle::Network::Topology::star:
            break;
        case heddle::Network::Topology::fat_tree: {
            const std::vector<unsigned> one_parent(shape.size(), 1);
            const s4u::FatTreeParams parameters(static_cast<unsigned>(shape.size()), shape, one_parent,
                                                network.cables);
            zone = s4u::create_fatTree_zone("platform", nullptr, parameters, callbacks, network.bandwidth,
                                            latency, duplex);
            break;
        }
        case heddle::Network::Topology::torus:
            zone = s4u::create_torus_zone("platform", nullptr, {shape.begin(), shape.end()}, callbacks,
                                          network.bandwidth, latency, duplex);
            break;
        case heddle::Network::Topology::dragonfly: {
            const s4u::DragonflyParams parameters({shape[0], 1}, {shape[1], 1}, {shape[2], 1}, shape[3]);
            zone = s4u::create_dragonfly_zone("platform", nullptr, parameters, callbacks, network.bandwidth,
                                              latency, duplex);
            break;
        }
    }
    HEDDLE_ASSERT(zone != nullptr);
    zone->seal();
}

/// The hosts that a pattern of `patterns` names, each once. Throws Error if a pattern names none.
std::vector<s4u::Host*> chosen(const std::vector<s4u::Host*>& all, const std::vector<std::string>& patterns) {
    std::vector<s4u::Host*> hosts;
    std::set<const s4u::Host*> seen;
    for (const std::string& pattern : patterns) {
        bool any = false;
        for (s4u::Host* host : all) {
            if (::fnmatch(pattern.c_str(), host->get_cname(), 0) != 0) continue;
            any = true;
            if (seen.insert(host).second) hosts.push_back(host);
        }
        if (any) continue;
        std::vector<std::string> names;
        for (const s4u::Host* host : all) names.push_back(host->get_name());
        throw Error(fmt::format("platform.hosts: the platform file has no host {}", pattern),
                    nearest_advice(pattern, names));
    }
    return hosts;
}

}  // namespace

std::vector<s4u::Host*> build(const s4u::Engine& engine, const Platform& platform) {
    if (!platform.file.empty()) {
        // SimGrid itself lists hosts by name only; the nodes are in the order of the file.
        static std::vector<s4u::Host*> hosts;
        static std::set<const s4u::Host*> seen;  // SimGrid names some twice
        s4u::Host::on_creation_cb([](s4u::Host& host) {
            if (seen.insert(&host).second) hosts.push_back(&host);
        });
        engine.load_platform(platform.file);
        engine.seal_platform();
        return platform.hosts.empty() ? hosts : chosen(hosts, platform.hosts);
    }
    HostMaker maker(platform);
    if (platform.network.topology == heddle::Network::Topology::star) {
        build_star(platform, maker);
    } else {
        build_regular(platform, maker);
    }
    return maker.hosts();
}

void check_figures(const s4u::Engine& engine, const std::vector<s4u::Host*>& hosts) {
    const auto refuse = [](const char* what, const std::string& name, const char* figure, double value,
                           const char* advice) {
        throw Error(fmt::format("{} {} has the {} {}", what, name, figure, value), advice);
    };
    for (const s4u::Link* link : links_of(engine)) {
        if (link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI) continue;
        const double latency = link->get_latency();
        const double bandwidth = link->get_bandwidth();
        if (!(latency >= 0 && std::isfinite(latency)))
            refuse("link", link->get_name(), "latency", latency, "a latency is zero seconds or more");
        if (!(bandwidth > 0 && std::isfinite(bandwidth)))
            refuse("link", link->get_name(), "bandwidth", bandwidth, "a bandwidth is above zero");
    }
    for (const s4u::Host* host : hosts) {
        const double speed = host->get_speed();
        if (!(speed > 0 && std::isfinite(speed)))
            refuse("host", host->get_name(), "speed", speed, "a speed is above zero");
    }
}

}  // namespace heddle::sim
