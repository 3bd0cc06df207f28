// Tests that platforms are built as described: every topology, many node counts, platform files good and bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "sim/platform_file.hpp"
#include "sim/platform_summary.hpp"
#include "sim/simgrid_process.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Topology = Network::Topology;

constexpr Topology topologies[] = {Topology::star, Topology::fat_tree, Topology::torus, Topology::dragonfly};

Platform with(Topology topology, NodeId nodes) {
    Platform platform;
    platform.nodes = nodes;
    platform.network.topology = topology;
    return platform;
}

/// A file in the tests' own place, which is gone at the end.
class File {
public:
    explicit File(const std::string& text)
        : path_(::testing::TempDir() + "platform_" + std::to_string(::getpid()) + "_" +
                std::to_string(next_++) + ".xml") {
        std::ofstream(path_) << text;
    }
    ~File() { std::remove(path_.c_str()); }
    const std::string& path() const { return path_; }

private:
    static inline int next_ = 0;
    std::string path_;
};

std::string xml(const std::string& inside) {
    return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
           "<platform version=\"4.1\">\n" +
           inside + "\n</platform>\n";
}

Platform from_file(const std::string& path) {
    Platform platform;
    platform.file = path;
    return platform;
}

Error error_of(const Platform& platform) {
    try {
        const SimBackend backend(platform);
    } catch (const Error& error) {
        return error;
    }
    return Error("no error");
}

TEST(SimPlatform, EveryTopologyIsBuiltForEveryNodeCount) {
    for (const Topology topology : topologies) {
        for (const NodeId nodes : {1U, 2U, 3U, 5U, 7U, 16U, 17U, 64U, 100U, 1000U, 1025U}) {
            const Platform platform = with(topology, nodes);
            const SimBackend backend(platform);
            EXPECT_EQ(backend.topology().nodes, nodes);
            EXPECT_EQ(backend.topology().group.size(), nodes);
            const auto& shape = backend.platform().network.shape;
            const std::uint64_t holds =
                std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
            if (topology == Topology::star) {
                EXPECT_TRUE(shape.empty());
            } else {
                EXPECT_GE(holds, nodes) << name(topology);
                EXPECT_LE(static_cast<double>(holds), 1.15 * nodes + 2) << name(topology) << " " << nodes;
                EXPECT_EQ(backend.notes().empty(), holds == nodes) << name(topology) << " " << nodes;
            }
        }
    }
}

// Every node reaches every other: a message from each to each arrives.
TEST(SimPlatform, EveryNodeReachesEveryOther) {
    for (const Topology topology : topologies) {
        for (const NodeId nodes : {2U, 5U, 16U, 30U}) {
            Platform platform = with(topology, nodes);
            std::vector<int> came(nodes);
            run(
                platform,
                [&](Script&, Context& context) {
                    for (NodeId to = 0; to < nodes; ++to) {
                        if (to != context.id.node)
                            send(context, to, (to + context.id.node) % 2 == 0 ? 8 : 8192);
                    }
                },
                [&](Script&, Context& context, NodeId, auto) { ++came[context.id.node]; });
            EXPECT_EQ(came, std::vector<int>(nodes, static_cast<int>(nodes) - 1)) << name(topology);
        }
    }
}

// The lookahead is the smallest latency between any two nodes, which all pairs confirm.
TEST(SimPlatform, TheLookaheadIsTheSmallestLatency) {
    for (const Topology topology : topologies) {
        for (const NodeId nodes : {2U, 3U, 7U, 24U, 60U, 64U}) {
            const PlatformSummary summary = describe(with(topology, nodes));
            EXPECT_EQ(summary.pairs, nodes * (nodes - 1));
            EXPECT_EQ(summary.lookahead, summary.latency_min) << name(topology) << " " << nodes;
        }
    }
    EXPECT_EQ(describe(with(Topology::star, 1)).lookahead, Time::zero());
}

// By hand: a fat tree of 4 leaf switches with 4 nodes each has 2 links within a leaf, 4 between leaves; its
// 16 cables to nodes and 4 x 4 cables upwards have two directions. In a 4 x 4 torus the farthest node is 2 +
// 2 links away.
TEST(SimPlatform, SummariesOfKnownShapes) {
    Platform tree = with(Topology::fat_tree, 16);
    tree.network.shape = {4, 4};
    const PlatformSummary of_tree = describe(tree);
    EXPECT_EQ(of_tree.links, 2 * (16 + 4 * 4));
    EXPECT_EQ(of_tree.groups, 4U);
    EXPECT_EQ(of_tree.latency_min, us(2));
    EXPECT_EQ(of_tree.latency_max, us(4));
    EXPECT_EQ(of_tree.hops_max, 4U);
    EXPECT_EQ(of_tree.bandwidth_min, 12.5e9);

    Platform torus = with(Topology::torus, 16);
    torus.network.shape = {4, 4};
    const PlatformSummary of_torus = describe(torus);
    EXPECT_EQ(of_torus.links, 2 * 2 * 16U);
    EXPECT_EQ(of_torus.groups, 4U);
    EXPECT_EQ(of_torus.latency_min, us(1));
    EXPECT_EQ(of_torus.hops_max, 4U);

    Platform dragonfly = with(Topology::dragonfly, 16);
    dragonfly.network.shape = {2, 2, 2, 2};
    const PlatformSummary of_dragonfly = describe(dragonfly);
    EXPECT_EQ(of_dragonfly.groups, 2U);
    EXPECT_EQ(of_dragonfly.latency_min, us(2));

    Platform one_machine = with(Topology::star, 4);
    one_machine.processes = 4;
    one_machine.networks.emplace_back().name = "a";
    EXPECT_EQ(describe(one_machine).pairs, 0U);

    const PlatformSummary of_star = describe(with(Topology::star, 10));
    EXPECT_EQ(of_star.links, 20U);
    EXPECT_EQ(of_star.groups, 1U);
    EXPECT_EQ(of_star.hops_max, 2U);
    EXPECT_EQ(of_star.cost_model, "CM02");
}

// Full bisection: half of the nodes send to the other half, all at full bandwidth. With one cable a leaf of
// four nodes shares that.
TEST(SimPlatform, CablesDecideTheBisectionOfAFatTree) {
    const auto time_with = [](std::vector<std::uint32_t> cables) {
        Platform platform = ideal(8);
        platform.network.topology = Topology::fat_tree;
        platform.network.shape = {4, 2};
        platform.network.cables = std::move(cables);
        Time last{};
        run(
            platform,
            [](Script&, Context& context) {
                if (context.id.node < 4) send(context, context.id.node + 4, 1000000);
            },
            [&](Script&, Context& context, NodeId, auto) { last = std::max(last, now(context)); });
        return to_seconds(last);
    };
    EXPECT_NEAR(time_with({}), 1e-3 + 4e-6, 1e-5);
    EXPECT_NEAR(time_with({1, 1}), 4e-3 + 4e-6, 4e-5);
}

TEST(SimPlatform, WrongDescriptionsAreRefusedAtTheirPlace) {
    const auto refused = [](auto change) {
        Platform platform = with(Topology::fat_tree, 16);
        platform.where = {"run.yaml", 7};
        change(platform);
        const Error error = error_of(platform);
        EXPECT_EQ(error.where().file, "run.yaml") << error.what();
        EXPECT_EQ(error.where().line, 7) << error.what();
        return error.message();
    };
    EXPECT_THAT(refused([](Platform& p) { p.nodes = 0; }), HasSubstr("zero nodes"));
    EXPECT_THAT(refused([](Platform& p) { p.stated_cores = true; }), HasSubstr("zero cores"));
    EXPECT_THAT(refused([](Platform& p) { p.core_speed = 0; }), HasSubstr("core_speed"));
    EXPECT_THAT(refused([](Platform& p) { p.memory_bandwidth = -1; }), HasSubstr("memory_bandwidth"));
    EXPECT_THAT(refused([](Platform& p) {
                    p.memory_bandwidth = MemoryBandwidth({1, 2, -1});
                }),
                HasSubstr("memory_bandwidth is -1"));
    EXPECT_THAT(refused([](Platform& p) { p.network.bandwidth = 0; }), HasSubstr("bandwidth"));
    EXPECT_THAT(refused([](Platform& p) { p.network.shape = {3, 5}; }), HasSubstr("holds 15 nodes, not 16"));
    EXPECT_THAT(refused([](Platform& p) { p.network.shape = {4, 0}; }), HasSubstr("zero"));
    EXPECT_THAT(refused([](Platform& p) { p.network.cables = {1, 2, 3}; }), HasSubstr("cables"));
    EXPECT_THAT(refused([](Platform& p) {
                    p.network.topology = Topology::torus;
                    p.network.shape = {1, 1, 16};
                }),
                HasSubstr("several extents of 1"));
    EXPECT_THAT(refused([](Platform& p) {
                    p.network.topology = Topology::dragonfly;
                    p.network.shape = {4, 2, 2, 2};
                }),
                HasSubstr("4 groups, but only 2 routers"));
    EXPECT_THAT(refused([](Platform& p) {
                    p.network.topology = Topology::star;
                    p.network.shape = {16};
                }),
                HasSubstr("star"));
}

// --- platform files
// -------------------------------------------------------------------------------------------

constexpr const char* two_speeds =
    "<zone id=\"world\" routing=\"Full\">\n"
    "  <host id=\"zeta\" speed=\"1Gf\" core=\"2\"/>\n"
    "  <host id=\"alpha\" speed=\"4Gf\" core=\"3\"/>\n"
    "  <link id=\"wire\" bandwidth=\"1GBps\" latency=\"5us\"/>\n"
    "  <route src=\"zeta\" dst=\"alpha\"><link_ctn id=\"wire\"/></route>\n"
    "</zone>";

TEST(SimPlatformFile, HostsAreNodesInTheOrderOfTheFile) {
    const File file(xml(two_speeds));
    Platform platform = from_file(file.path());
    platform.overheads = {};
    SimBackend backend(platform);
    EXPECT_EQ(backend.topology().nodes, 2U);
    EXPECT_EQ(backend.topology().cores, 2U);  // of the smaller host
    EXPECT_THAT(backend.notes(), ElementsAre(HasSubstr("differ in their number of cores")));
    std::vector<Time> ends(2);
    Time arrival{};
    run(
        backend,
        [&](Script&, Context& context) {
            compute(context, {4e9, 0});
            ends[context.id.node] = now(context);
            if (context.id == WorkerId{1, 0}) send(context, 0, 1000);
        },
        [&](Script&, Context& context, NodeId, auto) { arrival = now(context); });
    EXPECT_EQ(ends, (std::vector<Time>{us(4000000), us(1000000)}));  // flops / speed of each host
    EXPECT_EQ(arrival, us(1000000) + us(1 + 5));
}

// latency 5 us, from 10 us on twice that; 1000 bytes at 1 GBps, from 10 us on at a tenth.
TEST(SimPlatformFile, ItsLinksChangeByTheirNames) {
    const File file(xml(two_speeds));
    Platform platform = from_file(file.path());
    platform.overheads = {};
    platform.link_events = {{.at = us(10), .link = "wire", .bandwidth = 0.1, .latency = 2}};
    const auto two_messages = [&platform] {
        std::vector<Time> arrivals;
        run(
            platform,
            [&](Script&, Context& context) {
                if (context.id != WorkerId{0, 0}) return;
                send(context, 1, 1000);
                sleep_until(context, us(20));
                send(context, 1, 1000);
            },
            [&](Script&, Context& context, NodeId, auto) { arrivals.push_back(now(context)); });
        return arrivals;
    };
    EXPECT_EQ(two_messages(), (std::vector<Time>{us(6), us(20 + 10 + 10)}));
    platform.link_events[0].link = "wires";
    EXPECT_THAT(error_of(platform).message(), HasSubstr("no link wires"));
    platform.link_events = {{.at = us(90), .link = "wire", .bandwidth = 1.0}, platform.link_events[0]};
    platform.link_events[1].link = "wire";
    EXPECT_EQ(two_messages(), (std::vector<Time>{us(6), us(20 + 10 + 10)})) << "in any order of the list";
}

TEST(SimPlatformFile, WhatTheYamlStatesWinsOverTheFile) {
    const File file(xml(two_speeds));
    Platform platform = from_file(file.path());
    platform.cores = 8;
    platform.stated_cores = true;
    platform.core_speed = 2e9;
    platform.stated_core_speed = true;
    platform.nodes = 1;
    platform.stated_nodes = true;
    SimBackend backend(platform);
    EXPECT_EQ(backend.topology().nodes, 1U);
    EXPECT_EQ(backend.topology().cores, 8U);
    Time end{};
    run(backend, [&](Script&, Context& context) {
        compute(context, {2e9, 0});
        end = now(context);
    });
    EXPECT_EQ(end, us(1000000));

    platform.nodes = 3;
    EXPECT_THAT(error_of(platform).what(),
                HasSubstr("3 nodes are wanted, but the platform file has 2 hosts"));
}

TEST(SimPlatformFile, HostsAreChosenByNameAndPattern) {
    const auto cluster = [](const std::string& name, const std::string& speed) {
        return "<cluster id='" + name + "' prefix='" + name + "-' suffix='' radical='0-3' speed='" + speed +
               "' bw='1GBps' lat='1us' router_id='" + name + "-router'/>";
    };
    const File file(
        xml("<zone id='all' routing='Full'>" + cluster("a", "1Gf") + cluster("b", "2Gf") +
            "<link id='wan' bandwidth='1GBps' latency='1ms'/><zoneRoute src='a' dst='b' gw_src='a-router' "
            "gw_dst='b-router'><link_ctn id='wan'/></zoneRoute></zone>"));
    Platform platform = from_file(file.path());
    platform.hosts = {"b-[12]", "a-3", "b-?"};
    const auto view = SimBackend(platform).cluster(Time::zero());
    ASSERT_EQ(view.grid.nodes, 5U);
    // b-1, b-2, a-3, and then what is left of the second cluster: b-0, b-3.
    const std::vector<double> speeds = {2e9, 2e9, 1e9, 2e9, 2e9};
    for (NodeId node = 0; node < 5; ++node) EXPECT_EQ(view.speeds[node], speeds[node]) << node;
    EXPECT_LT(view.routes->between(0, 1).latency, us(1000));
    EXPECT_GT(view.routes->between(0, 2).latency, us(1000));

    platform.nodes = 3;
    platform.stated_nodes = true;
    EXPECT_EQ(SimBackend(platform).topology().nodes, 3U);
    platform.nodes = 6;
    EXPECT_THAT(error_of(platform).what(), HasSubstr("has 5 hosts that platform.hosts names"));
    platform.hosts = {"b-*", "a-7"};
    EXPECT_THAT(error_of(platform).what(), HasSubstr("the platform file has no host a-7; did you mean"));
    Platform generated;
    generated.hosts = {"node-1"};
    EXPECT_THAT(error_of(generated).what(), HasSubstr("state platform.file"));
}

// What a pipe says is there once. A second reader would wait for a writer.
TEST(SimPlatformFile, MayBeAPipe) {
    const std::string path = ::testing::TempDir() + "sim_platform_pipe_" + std::to_string(::getpid());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const auto piped = [&path](const auto& reader) {
        std::thread writer([&] { std::ofstream(path) << xml(two_speeds); });
        const auto result = reader();
        writer.join();
        return result;
    };
    const File plain(xml(two_speeds));
    EXPECT_EQ(piped([&] { return describe(from_file(path)).nodes; }),
              describe(from_file(plain.path())).nodes);
    EXPECT_EQ(piped([&] { return SimBackend(from_file(path), {}).topology().nodes; }),
              SimBackend(from_file(plain.path()), {}).topology().nodes);
    std::filesystem::remove(path);
}

TEST(SimPlatformFile, SettingsInTheFileAreNotUsedAndNoted) {
    const std::string config =
        "<config id=\"General\">\n  <!-- </config> -->\n  <prop id=\"network/model\" value=\"SMPI\"/>\n"
        "  <prop id=\"network/no-such-thing\" value=\"1\"/>\n</config>\n";
    const File plain(xml(two_speeds));
    const File file(xml(config + two_speeds));
    const PlatformSummary summary = describe(from_file(file.path()));
    const PlatformSummary expected = describe(from_file(plain.path()));
    EXPECT_EQ(summary.latency_mean, expected.latency_mean);
    EXPECT_EQ(summary.bandwidth_min, expected.bandwidth_min);
    EXPECT_THAT(summary.notes, ElementsAre(HasSubstr("network/model, network/no-such-thing")));
    EXPECT_TRUE(expected.notes.empty());
}

TEST(SimPlatformFile, FiguresThatNoHardwareHasAreRefusedByName) {
    const auto message_with = [](const std::string& from, const std::string& to) {
        std::string text = two_speeds;
        text.replace(text.find(from), from.size(), to);
        const File file(xml(text));
        const Error error = error_of(from_file(file.path()));
        EXPECT_EQ(error.where().file, file.path());
        return error.message();
    };
    EXPECT_EQ(message_with("5us", "-1us"), "link wire has the latency -1e-06");
    EXPECT_EQ(message_with("\"1GBps\"", "\"0GBps\""), "link wire has the bandwidth 0");
    EXPECT_EQ(message_with("\"1GBps\"", "\"-2Bps\""), "link wire has the bandwidth -2");
    EXPECT_EQ(message_with("\"4Gf\"", "\"0f\""), "host alpha has the speed 0");
    EXPECT_EQ(message_with("\"4Gf\"", "\"-1f\""), "host alpha has the speed -1");
}

// Refused before SimGrid makes the first of them: 2^31 hosts would take all memory.
TEST(SimPlatformFile, MoreHostsThanAPlatformMayHaveAreRefused) {
    const auto refused = [](const std::string& radical) {
        const File file(xml("<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"" + radical +
                            "\" speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>"));
        const Error error = error_of(from_file(file.path()));
        EXPECT_EQ(error.where().line, 4);
        return error.message();
    };
    EXPECT_THAT(refused("0-2147483647"), HasSubstr("more than 10000000 hosts"));
    EXPECT_THAT(refused("7,0-5000000,10000000-15000000"), HasSubstr("more than 10000000 hosts"));
    const File few(
        xml("<cluster id=\"c\" prefix=\"n-\" suffix=\"\" radical=\"0-3,7,12-13\" "
            "speed=\"1Gf\" bw=\"1GBps\" lat=\"1us\"/>"));
    EXPECT_EQ(describe(from_file(few.path())).nodes, 7U);
    EXPECT_EQ(read_platform_file(few.path(), {}).hosts, 7U);
}

TEST(SimPlatformFile, BadFilesAreRefusedWithFileAndLine) {
    const auto refused = [](const std::string& text, int line) {
        const File file(text);
        const Error error = error_of(from_file(file.path()));
        EXPECT_EQ(error.where().file, file.path()) << error.what();
        EXPECT_EQ(error.where().line, line) << error.what();
        EXPECT_FALSE(error.advice().empty());
        return error.message();
    };
    EXPECT_THAT(refused("no XML at all", 1), HasSubstr("Invalid XML"));
    EXPECT_THAT(refused(xml("<zone id=\"w\" routing=\"Full\">\n<hots id=\"a\" speed=\"1Gf\"/>\n</zone>"), 5),
                HasSubstr("Invalid XML"));
    EXPECT_THAT(refused(xml("<config>\n<prop id=\"a\" value=\"b\"/>\n</config>\n"
                            "<zone id=\"w\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gfoo\"/>\n</zone>"),
                        8),
                HasSubstr("unknown unit"));
    EXPECT_THAT(refused(xml("<zone id=\"w\" routing=\"Full\">\n</zone>"), 0), HasSubstr("without hosts"));
    EXPECT_THAT(refused(xml("<zone id=\"w\" routing=\"Full\">\n"
                            "<host id=\"a\" speed=\"1Gf\" core=\"1000000\"/>\n</zone>"),
                        0),
                HasSubstr("1000000 cores"));
    // SimGrid aborts its process over this one, and does not say where; ours goes on.
    refused(xml("<zone id=\"w\" routing=\"Nowhere\">\n<host id=\"a\" speed=\"1Gf\"/></zone>"), 0);
    EXPECT_THAT(refused(xml("<zone id=\"w\" routing=\"Full\">\n"
                            "<host id=\"a\" speed=\"1Gf\" availability_file=\"x.trace\"/></zone>"),
                        5),
                HasSubstr("changes with time"));
    EXPECT_THAT(refused(xml("<zone id=\"w\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\"/>\n"
                            "<host id=\"b\" speed=\"1Gf\"/>\n</zone>"),
                        0),
                HasSubstr("no route from host a to host b"));

    Platform missing = from_file("/no/such/platform.xml");
    missing.where = {"run.yaml", 3};
    const Error error = error_of(missing);
    EXPECT_THAT(error.what(), HasSubstr("run.yaml:3"));
    EXPECT_THAT(error.what(), HasSubstr("/no/such/platform.xml"));
}

}  // namespace
}  // namespace heddle::sim::testing
