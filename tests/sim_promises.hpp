// For tests: platforms on which a simulated graph must take, to the picosecond, what its schedule promises.
// They have equal cores, unequal cores, two clusters joined by a WAN, a fat tree, or machines of several
// nodes. One is a SimGrid file whose hosts all differ.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "configs/experiment.hpp"
#include "graphs/graph_source.hpp"
#include "model/placed_graph.hpp"
#include "partitioners/place_graph.hpp"
#include "partitioners/schedulers/scheduler.hpp"
#include "partitioners/schedulers/verify.hpp"
#include "runtime/run/execution.hpp"
#include "sim/sim_backend.hpp"
#include "workloads/workload.hpp"

namespace heddle::testing_promises {

struct NamedPlatform {
    std::string name;
    std::string yaml;  ///< of the `platform` section, without braces
};

/// Two clusters of four hosts, 100 Mb/s and 10 ms apart.
inline const char* const wan_xml =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n<zone id=\"world\" routing=\"Full\">\n"
    "<cluster id=\"a\" prefix=\"a\" suffix=\"\" radical=\"0-3\" speed=\"10Gf\" bw=\"10Gbps\" lat=\"1us\" "
    "router_id=\"ra\"/>\n"
    "<cluster id=\"b\" prefix=\"b\" suffix=\"\" radical=\"0-3\" speed=\"3Gf\" bw=\"1Gbps\" lat=\"7us\" "
    "router_id=\"rb\"/>\n"
    "<link id=\"wan\" bandwidth=\"100Mbps\" latency=\"10ms\"/>\n"
    "<zoneRoute src=\"a\" dst=\"b\" gw_src=\"ra\" gw_dst=\"rb\"><link_ctn id=\"wan\"/></zoneRoute>\n"
    "</zone>\n</platform>\n";

/// Hosts and routes of which no two are alike, with routes that differ by direction.
inline const char* const uneven_xml =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n<zone id=\"world\" routing=\"Full\">\n"
    "<host id=\"h0\" speed=\"7Gf\"/>\n<host id=\"h1\" speed=\"3.3Gf\"/>\n<host id=\"h2\" speed=\"900Mf\"/>\n"
    "<link id=\"x\" bandwidth=\"3Gbps\" latency=\"11us\"/>\n<link id=\"y\" bandwidth=\"700Mbps\" "
    "latency=\"130us\"/>\n<link id=\"z\" bandwidth=\"11Gbps\" latency=\"1.7us\"/>\n"
    "<route src=\"h0\" dst=\"h1\"><link_ctn id=\"x\"/></route>\n"
    "<route src=\"h0\" dst=\"h2\" symmetrical=\"NO\"><link_ctn id=\"x\"/><link_ctn id=\"y\"/></route>\n"
    "<route src=\"h2\" dst=\"h0\" symmetrical=\"NO\"><link_ctn id=\"z\"/></route>\n"
    "<route src=\"h1\" dst=\"h2\"><link_ctn id=\"y\"/><link_ctn id=\"z\"/></route>\n"
    "</zone>\n</platform>\n";

constexpr std::size_t platform_count = 8;

/// Writes the two files into `folder`.
inline std::array<NamedPlatform, platform_count> platforms(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    const std::string wan = folder / "wan.xml", uneven = folder / "uneven.xml";
    std::ofstream(wan) << wan_xml;
    std::ofstream(uneven) << uneven_xml;
    const std::string ideal = "overheads: none, ", quiet = "contention: none";
    return {
        {NamedPlatform{"equal", ideal + "nodes: 4, cores: 2, core_speed: 3Gf, network: {" + quiet + "}"},
         {"unequal", ideal +
                         "nodes: 4, cores: 2, core_speed: 7Gf, node_speeds: [1, 0.3, 0.1], core_speeds: "
                         "[1, 0.7], network: {" +
                         quiet + "}"},
         {"wan", ideal + "file: '" + wan + "', network: {" + quiet + "}"},
         {"fat tree", ideal +
                          "nodes: 8, network: {topology: fat_tree, shape: [2, 4], latency: 3us, "
                          "bandwidth: 3Gbps, " +
                          quiet + "}"},
         {"file", ideal + "file: '" + uneven + "', network: {" + quiet + "}"},
         {"machines", ideal +
                          "nodes: 8, processes: 2, cores: 2, core_speed: 3Gf, node_speeds: [1, 0.7, 0.3], "
                          "shared_memory: {latency: 800ns, bandwidth: 3GBps}, network: {topology: "
                          "fat_tree, shape: [2, 2], " +
                          quiet + "}"},
         {"one machine", ideal + "nodes: 3, processes: 3, network: {" + quiet + "}"},
         {"machines of a file",
          ideal + "file: '" + wan + "', processes: 2, cores: 1, network: {" + quiet + "}"}}};
}

/// The platform, with as many workers as the graph has costs for, if it can have as many.
inline Platform platform_for(const NamedPlatform& named, const graphs::GraphFile& graph) {
    std::string yaml = "{" + named.yaml + "}";
    std::vector<configs::Override> sets;
    if (!graph.costs.empty()) {
        sets.push_back({"platform.cores", "1", "test"});
        sets.push_back({"platform.nodes", std::to_string(graph.costs.front().size()), "test"});
        if (named.name.find("machine") != std::string::npos)
            sets.push_back({"platform.processes", "1", "test"});
        if (named.name == "machines") sets.push_back({"platform.network.shape", "[2, 64]", "test"});
        if (named.name == "fat tree") sets.push_back({"platform.network.shape", "[2, 64]", "test"});
    }
    return configs::read_platform_text("{platform: " + yaml + "}", "test", sets);
}

/// Whether the machine has as many nodes as the graph has columns of costs. Files have 8 and 3 hosts.
inline bool has_room(const NamedPlatform& named, const graphs::GraphFile& graph) {
    const std::size_t columns = graph.costs.empty() ? 0 : graph.costs.front().size();
    const bool wan = named.name == "wan" || named.name == "machines of a file";
    return !(wan && columns > 8) && !(named.name == "file" && columns > 3);
}

/// Holds a run to its schedule: the makespan that `heddle schedule` finds, the promise of the placement, and
/// the simulated makespan are one number.
inline void expect_kept(const std::string& source, const graphs::GraphFile& as_read,
                        const NamedPlatform& named, const std::string& scheduler) {
    SCOPED_TRACE(source + " on " + named.name + " by " + scheduler);
    if (!has_room(named, as_read)) return;
    sim::SimBackend backend(platform_for(named, as_read));
    ClusterView cluster = backend.cluster(Time{});
    cluster.bytes_besides = model::PlacedGraph::message_bytes_besides;

    const graphs::GraphFile file = graphs::in_flops(as_read, cluster.core_speed);
    const schedulers::Problem problem(file.graph, schedulers::Machine::of_cluster(cluster, file.costs));
    const schedulers::Schedule schedule = schedulers::make(scheduler)->schedule(problem, {1, {}});
    const Time scheduled = run_exactly(problem, schedule).makespan;
    EXPECT_EQ(schedulers::verify(problem, schedule), std::vector<std::string>{});

    const auto& kind = workloads::find("dag");
    Settings settings(kind.settings);
    settings.set("graph", source);
    const auto workload = kind.make(settings);
    runtime::Schedule how;
    how.placement = scheduler;
    how.seed = 1;
    how.stealing.victim = "none";
    cluster.bytes_besides = 0;  // the workload adds what its messages carry
    workload->prepare(cluster, how);
    runtime::Execution execution(backend, how, [&](NodeId id) { return workload->program(id); });
    const runtime::RunResult result = execution.run();
    EXPECT_EQ(workload->check(result).kind, workloads::Verdict::Kind::right);
    EXPECT_EQ(result.makespan, scheduled);
    EXPECT_EQ(workload->forecast().makespan_seconds.value(), static_cast<double>(scheduled.count()) / 1e12);
    EXPECT_LE(workload->forecast().lower_bound_seconds.value(), to_seconds(scheduled) * (1 + 1e-12));
}

/// The longest task of the graph on the slowest core of the machine, by the settings alone.
inline double longest_seconds(const graphs::GraphFile& as_read, const NamedPlatform& named) {
    const sim::SimBackend backend(platform_for(named, as_read));
    const ClusterView cluster = backend.cluster(Time{});
    double slowest = cluster.core_speed, most = 0;
    for (const double speed : cluster.speeds) slowest = std::min(slowest, speed);
    const graphs::GraphFile file = graphs::in_flops(as_read, cluster.core_speed);
    for (TaskIndex task = 0; task < file.graph.tasks(); ++task) most = std::max(most, file.graph.flops(task));
    for (const std::vector<double>& row : file.costs)
        most = std::max(most, *std::max_element(row.begin(), row.end()));
    return most / slowest;
}

/// Virtual time is too short for a task of the graph: neither verb plans it, and both name the task.
inline void expect_refused(const std::string& source, const graphs::GraphFile& as_read,
                           const NamedPlatform& named, const std::string& scheduler) {
    SCOPED_TRACE(source + " on " + named.name + " by " + scheduler);
    sim::SimBackend backend(platform_for(named, as_read));
    const ClusterView cluster = backend.cluster(Time{});
    const auto expect_named = [](const auto& plan) {
        try {
            plan();
            ADD_FAILURE() << "planned";
        } catch (const Error& error) {
            EXPECT_NE(error.message().find(" s on processor "), std::string::npos) << error.what();
        }
    };
    const graphs::GraphFile file = graphs::in_flops(as_read, cluster.core_speed);
    expect_named([&] {
        const schedulers::Problem problem(file.graph, schedulers::Machine::of_cluster(cluster, file.costs));
    });
    const auto& kind = workloads::find("dag");
    Settings settings(kind.settings);
    settings.set("graph", source);
    const auto workload = kind.make(settings);
    runtime::Schedule how;
    how.placement = scheduler;
    expect_named([&] { workload->prepare(cluster, how); });
}

}  // namespace heddle::testing_promises
