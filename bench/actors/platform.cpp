// Builds the star or fat tree of a Heddle configuration by SimGrid's own calls. A benchmark runs plain
// SimGrid actors on it and compares them with Heddle's simulator.
#include "bench/actors/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

#include "base/time.hpp"

#include <simgrid/version.h>  // after the others, whose macros it uses

#if SIMGRID_VERSION >= 33300
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the calls that 3.32 has as well
#endif

namespace heddle::actors {

namespace s4u = simgrid::s4u;

namespace {

void start_simgrid(const std::vector<std::string>& extra) {
    std::vector<std::string> words = {
        "actors",
        "--cfg=network/model:CM02",
        "--cfg=network/latency-factor:1",
        "--cfg=network/bandwidth-factor:1",
        "--cfg=network/weight-S:0",
        "--cfg=network/TCP-gamma:0",
        "--cfg=network/crosstraffic:no",
        "--cfg=network/optim:Lazy",
#if SIMGRID_VERSION >= 33300
        "--cfg=precision/timing:1e-12",
        "--cfg=precision/work-amount:1e-5",
#else
        "--cfg=surf/precision:1e-12",
        "--cfg=maxmin/precision:1e-5",
#endif
        "--log=root.thresh:warning",
    };
    words.insert(words.end(), extra.begin(), extra.end());
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    auto count = static_cast<int>(words.size());
    arguments.push_back(nullptr);
    s4u::Engine::get_instance(&count, arguments.data());
}

s4u::Host* make_host(s4u::NetZone& zone, const Platform& platform, std::size_t number) {
    auto* host = zone.create_host(fmt::format("node-{}", number), platform.core_speed);
    return host->set_core_count(static_cast<int>(std::max(platform.cores, CoreId{1})))->seal();
}

std::vector<s4u::Host*> star(const Platform& platform) {
    std::vector<s4u::Host*> hosts;
    auto* zone = s4u::create_star_zone("platform");
    for (NodeId i = 0; i < platform.nodes; ++i) {
        hosts.push_back(make_host(*zone, platform, i));
        auto* link = zone->create_split_duplex_link(fmt::format("link-{}", i), platform.network.bandwidth);
        link->set_latency(to_seconds(platform.network.latency))->seal();
        zone->add_route(hosts.back()->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
    }
    zone->seal();
    return hosts;
}

std::vector<s4u::Host*> fat_tree(const Platform& platform) {
    using NetPoint = simgrid::kernel::routing::NetPoint;
    std::vector<s4u::Host*> hosts;
    const Network& network = platform.network;
    const auto make_leaf = [&](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long) {
        hosts.push_back(make_host(*zone, platform, hosts.size()));
        return std::pair<NetPoint*, NetPoint*>(hosts.back()->get_netpoint(), nullptr);
    };
    const std::vector<unsigned> one_parent(network.shape.size(), 1);
    auto* zone = s4u::create_fatTree_zone(
        "platform", nullptr,
        {static_cast<unsigned>(network.shape.size()), network.shape, one_parent, network.cables},
        s4u::ClusterCallbacks(make_leaf), network.bandwidth, to_seconds(network.latency),
        s4u::Link::SharingPolicy::SPLITDUPLEX);
    zone->seal();
    hosts.resize(platform.nodes);
    return hosts;
}

}  // namespace

Hosts build_platform(const Platform& platform, const std::vector<std::string>& extra) {
    using Topology = Network::Topology;
    const Topology topology = platform.network.topology;
    const bool regular = topology == Topology::star || topology == Topology::fat_tree;
    if (!platform.file.empty() || !regular || platform.network.cost_model != Network::CostModel::CM02) {
        throw Error("the program of SimGrid actors knows stars and fat trees with the cost model CM02 only",
                    "state platform.network.topology: fat_tree", platform.where);
    }
    start_simgrid(extra);
    Hosts hosts;
    hosts.of_node = topology == Topology::star ? star(platform) : fat_tree(platform);
    for (NodeId node = 0; node < platform.nodes; ++node) {
        hosts.group.push_back(topology == Topology::star ? 0 : node / platform.network.shape[0]);
    }
    return hosts;
}

}  // namespace heddle::actors
