// Tests routes that are derived from similar ones. They equal SimGrid's for every pair on many shapes. On
// platforms too large for all pairs, the arrivals of messages are compared.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/path_links.hpp"
#include "sim/simgrid_process.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using Kind = RouteStructure::Kind;
using Topology = Network::Topology;

Platform shaped(Topology topology, std::vector<std::uint32_t> shape) {
    Platform platform = ideal(1);
    platform.network.topology = topology;
    for (const std::uint32_t extent : shape) platform.nodes *= extent;
    platform.network.shape = std::move(shape);
    complete(platform);
    return platform;
}

/// Compares all pairs with what the keys say of them. Returns how many routes had to be known for that.
std::size_t compare_all_pairs(const Platform& platform, Kind kind) {
    SimgridProcess simgrid(platform);
    const RouteStructure& structure = simgrid.facts().structure;
    EXPECT_EQ(structure.kind, kind);
    if (structure.kind != kind || kind == Kind::none) return 0;
    const auto nodes = static_cast<NodeId>(simgrid.facts().hosts.size());
    std::map<std::uint64_t, std::tuple<Time, double, std::uint32_t, std::uint32_t>> kinds;
    std::map<std::pair<NodeId, std::uint32_t>, std::uint32_t> firsts;
    std::map<std::pair<NodeId, std::uint32_t>, std::uint32_t> lasts;
    for (NodeId from = 0; from < nodes; ++from) {
        const std::vector<RouteFacts> routes = simgrid.routes(from, 0, nodes);
        for (NodeId to = 0; to < nodes; ++to) {
            if (from == to) continue;
            const RouteFacts& route = routes[to];
            const RouteKeys keys = structure.keys(from, to);
            const std::tuple figures(route.latency, route.bandwidth, route.links, route.shared);
            EXPECT_EQ(kinds.try_emplace(keys.kind, figures).first->second, figures) << from << " " << to;
            const auto first = firsts.try_emplace({from, keys.first}, route.first.number).first->second;
            EXPECT_EQ(first, route.first.number) << from << " " << to;
            const auto last = lasts.try_emplace({to, keys.last}, route.last.number).first->second;
            EXPECT_EQ(last, route.last.number) << from << " " << to;
        }
    }
    return kinds.size() + firsts.size() + lasts.size();
}

/// How many pairs there are, if for each of them the links are those that SimGrid says.
std::size_t same_links(const Platform& platform) {
    SimgridProcess simgrid(platform);
    PathLinks links(simgrid);
    const auto nodes = static_cast<NodeId>(simgrid.facts().hosts.size());
    EXPECT_FALSE(simgrid.facts().tree.empty());
    std::size_t same = 0;
    const auto numbers = [](const std::vector<LinkFacts>& of) {
        std::vector<std::pair<std::uint32_t, double>> all;
        for (const LinkFacts& link : of) all.emplace_back(link.number, link.bandwidth);
        return all;
    };
    for (NodeId from = 0; from < nodes; ++from) {
        for (NodeId to = 0; to < nodes; ++to) {
            if (from == to) continue;
            const auto expected = numbers(simgrid.links(from, to));
            EXPECT_EQ(numbers(links.between(from, to)), expected) << from << " " << to;
            if (::testing::Test::HasFailure()) return same;
            ++same;
        }
    }
    return same;
}

TEST(SimRoutes, LinksOfTreesAreComposed) {
    using Shape = std::vector<std::uint32_t>;
    for (const NodeId nodes : {2U, 3U, 65U, 130U}) {
        Platform platform = ideal(nodes);
        platform.network.topology = Topology::star;
        complete(platform);
        EXPECT_EQ(same_links(platform), nodes * (nodes - 1)) << nodes;
    }
    for (const Shape& shape :
         {Shape{4, 3}, Shape{1, 5}, Shape{2, 3, 4}, Shape{6, 6}, Shape{8, 9}, Shape{16, 9}}) {
        const Platform platform = shaped(Topology::fat_tree, shape);
        EXPECT_EQ(same_links(platform), platform.nodes * (platform.nodes - 1)) << platform.nodes;
    }
    // Two, three or four cables from each switch to the next level; and as many as there are nodes below.
    for (const Shape& cables : {Shape{1, 2, 3}, Shape{1, 4, 1}, Shape{1, 3, 2}, Shape{1, 5, 20}}) {
        Platform platform = shaped(Topology::fat_tree, {5, 4, 3});
        platform.network.cables = cables;
        EXPECT_EQ(same_links(platform), 60 * 59) << cables[1] << " " << cables[2];
    }
    // The last switch has one node; and two levels of switches are not full.
    for (const NodeId nodes : {57U, 34U}) {
        Platform platform = shaped(Topology::fat_tree, {8, 3, 3});
        platform.nodes = nodes;
        EXPECT_EQ(same_links(platform), nodes * (nodes - 1)) << nodes;
    }
    // More switches and more nodes than one question is for.
    EXPECT_EQ(same_links(shaped(Topology::fat_tree, {3, 70})), 210 * 209);
}

TEST(SimRoutes, OfToriAreKnownByTheirShape) {
    using Shape = std::vector<std::uint32_t>;
    for (const Shape& shape : {Shape{2}, Shape{7}, Shape{8}, Shape{5, 4}, Shape{2, 2, 2}, Shape{4, 3, 2},
                               Shape{6, 5, 3}, Shape{3, 1, 4}, Shape{10, 10}}) {
        const Platform platform = shaped(Topology::torus, shape);
        const std::size_t asked = compare_all_pairs(platform, Kind::torus);
        EXPECT_LE(asked, platform.nodes * 4 * shape.size() + 30);
    }
}

TEST(SimRoutes, OfDragonfliesAreKnownByTheirShape) {
    using Shape = std::vector<std::uint32_t>;
    for (const Shape& shape : {Shape{1, 1, 1, 5}, Shape{2, 2, 2, 2}, Shape{3, 2, 4, 2}, Shape{4, 3, 4, 1},
                               Shape{1, 3, 3, 3}, Shape{5, 1, 5, 3}}) {
        const Platform platform = shaped(Topology::dragonfly, shape);
        const std::size_t asked = compare_all_pairs(platform, Kind::dragonfly);
        EXPECT_LE(asked, 2 * platform.nodes + 128);
    }
}

/// A platform file that lives as long as this.
class RoutesFile {
public:
    explicit RoutesFile(const std::string& inside)
        : path_(::testing::TempDir() + "routes_" + std::to_string(::getpid()) + ".xml") {
        std::ofstream(path_) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                                "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                             << inside << "\n</platform>\n";
    }
    ~RoutesFile() { std::remove(path_.c_str()); }
    Platform platform() const {
        Platform platform;
        platform.file = path_;
        return platform;
    }

private:
    std::string path_;
};

std::string cluster(const std::string& id, const std::string& radical, const std::string& more) {
    return "<cluster id=\"" + id + "\" prefix=\"" + id + "-\" suffix=\"\" radical=\"" + radical +
           "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"7us\" " + more + "/>\n";
}

constexpr const char* joined =
    "<link id=\"wan\" bandwidth=\"100MBps\" latency=\"3ms\"/>\n"
    "<zoneRoute src=\"a\" dst=\"b\" gw_src=\"a-router\" gw_dst=\"b-router\"><link_ctn id=\"wan\"/>"
    "</zoneRoute>\n";

std::string with_routers(std::string cluster_element, const std::string& id) {
    return cluster_element.insert(cluster_element.find("/>"), " router_id=\"" + id + "-router\" ");
}

TEST(SimRoutes, OfClustersAreKnownByClasses) {
    const std::string plain = cluster("a", "0-19", "");
    const std::string backbone =
        cluster("b", "0-14", "bb_bw=\"2GBps\" bb_lat=\"1us\" limiter_link=\"500MBps\"");
    const RoutesFile crossbar("<zone id=\"w\" routing=\"Full\">\n" + plain + "</zone>");
    EXPECT_LE(compare_all_pairs(crossbar.platform(), Kind::classes), 4 + 4 * 20U);
    const RoutesFile both("<zone id=\"w\" routing=\"Full\">\n" + with_routers(plain, "a") +
                          with_routers(backbone, "b") + joined + "</zone>");
    EXPECT_LE(compare_all_pairs(both.platform(), Kind::classes), 36 + 2 * 35 * 6U);
}

// A file that is one regular cluster is as cheap as the same shape built in: few routes are asked for.
TEST(SimRoutes, OfRegularClustersInFilesAreKnownByTheirShape) {
    const auto asked = [](const std::string& topology, const std::string& parameters, Kind kind) {
        const RoutesFile file(
            "<zone id=\"w\" routing=\"Full\">\n" +
            cluster("a", "0-119", "topology=\"" + topology + "\" topo_parameters=\"" + parameters + "\"") +
            "</zone>");
        return compare_all_pairs(file.platform(), kind);
    };
    EXPECT_LE(asked("TORUS", "6,5,4", Kind::torus), 120 * 12U + 30);
    EXPECT_LE(asked("FAT_TREE", "2;12,10;1,3;1,2", Kind::tree), 2 * 120U + 2);
    EXPECT_LE(asked("FAT_TREE", "3;5,6,4;1,2,2;1,1,2", Kind::tree), 2 * 120U + 3);
    EXPECT_LE(asked("DRAGONFLY", "4,2;3,2;5,1;2", Kind::dragonfly), 2 * 120U + 128);
    // Nodes with several links up are classes of their own, or have none.
    asked("FAT_TREE", "2;12,10;2,3;1,2", Kind::classes);
}

// Hosts of a zone with routes of its own are like no others.
TEST(SimRoutes, OfHostsThatDifferAreAskedForOneByOne) {
    const RoutesFile file(
        "<zone id=\"w\" routing=\"Full\">\n<host id=\"x\" speed=\"1Gf\"/>\n<host id=\"y\" speed=\"1Gf\"/>\n"
        "<host id=\"z\" speed=\"1Gf\"/>\n<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>\n"
        "<link id=\"m\" bandwidth=\"2GBps\" latency=\"5us\"/>\n"
        "<route src=\"x\" dst=\"y\"><link_ctn id=\"l\"/></route>\n"
        "<route src=\"x\" dst=\"z\"><link_ctn id=\"m\"/></route>\n"
        "<route src=\"y\" dst=\"z\"><link_ctn id=\"l\"/><link_ctn id=\"m\"/></route>\n</zone>");
    EXPECT_EQ(compare_all_pairs(file.platform(), Kind::classes), 6U + 6U + 6U);
}

TEST(SimRoutes, OfFilesWithRoutesOfSinglePairsHaveNoStructure) {
    const RoutesFile file("<zone id=\"w\" routing=\"Full\">\n" + with_routers(cluster("a", "0-9", ""), "a") +
                          with_routers(cluster("b", "0-9", ""), "b") + joined +
                          "<bypassZoneRoute src=\"b\" dst=\"a\" gw_src=\"b-router\" gw_dst=\"a-router\">"
                          "<link_ctn id=\"wan\"/></bypassZoneRoute>\n</zone>");
    compare_all_pairs(file.platform(), Kind::none);
}

// Above 512 nodes the simulator puts routes together. A message that is alone arrives when its route's
// latency and its bytes on the narrowest link have passed, by SimGrid's own figures of that route.
TEST(SimRoutes, MessagesOnLargePlatformsTakeThem) {
    const RoutesFile file(
        "<zone id=\"w\" routing=\"Full\">\n" + with_routers(cluster("a", "0-399", ""), "a") +
        with_routers(cluster("b", "0-299", "bb_bw=\"2GBps\" bb_lat=\"1us\""), "b") + joined + "</zone>");
    Platform from_file = file.platform();
    from_file.overheads = {};
    for (const Platform& platform :
         {shaped(Topology::torus, {9, 9, 8}), from_file, shaped(Topology::dragonfly, {5, 4, 6, 5})}) {
        SimgridProcess simgrid(platform);
        const auto nodes = static_cast<NodeId>(simgrid.facts().hosts.size());
        ASSERT_GT(nodes, 512U);
        std::vector<std::pair<NodeId, NodeId>> pairs;
        for (NodeId i = 0; i < 300; ++i) {
            const NodeId from = i * 7 % nodes;
            const NodeId to = (from + 1 + i * 31 % (nodes - 1)) % nodes;
            pairs.emplace_back(from, to);
        }
        std::vector<Time> arrivals;
        constexpr std::uint64_t bytes = 1000;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id.core != 0) return;
                for (std::size_t i = 0; i < pairs.size(); ++i) {
                    if (pairs[i].first != context.id.node) continue;
                    sleep_until(context, Time(static_cast<std::int64_t>(i) * us(100000).count()));
                    send(context, pairs[i].second, bytes);
                }
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        ASSERT_EQ(arrivals.size(), pairs.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const RouteFacts route = simgrid.routes(pairs[i].first, pairs[i].second, 1).front();
            const Time began = Time(static_cast<std::int64_t>(i) * us(100000).count());
            const Time expected = began + route.latency + from_seconds(bytes / route.bandwidth);
            EXPECT_NEAR(static_cast<double>((arrivals[i] - expected).count()), 0, 1)
                << pairs[i].first << " to " << pairs[i].second;
        }
    }
}

}  // namespace
}  // namespace heddle::sim::testing
