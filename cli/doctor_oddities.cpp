// Says in words what `heddle doctor` found that would prevent a run on these hosts, or make its times wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "cli/doctor_hosts.hpp"
#include "runtime/native/launch.hpp"

namespace heddle::cli {

namespace {

using Json = DoctorJson;

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

std::vector<double> values_of(const Json& list, const char* key) {
    std::vector<double> values;
    for (const Json& entry : list)
        if (entry.contains(key) && entry[key].is_number()) values.push_back(entry[key].get<double>());
    return values;
}

void examine_node(const Json& node, const Json& nodes, const std::string& build, std::uint64_t processes,
                  std::vector<Oddity>& to) {
    const std::string host = node["host"];
    if (node.contains("error")) {
        to.push_back({fmt::format("{} does not answer: {}", host, node["error"].get<std::string>()),
                      node["advice"], true});
        return;
    }
    if (node["build"] != build)
        to.push_back({fmt::format("{} has another build of heddle", host),
                      "install the same build there, or share its folder", true});
    const auto files = node["open_files_max"].get<std::uint64_t>();
    const std::uint64_t needed = native::files_of_launch(processes);
    if (files < needed)
        to.push_back({fmt::format("{} allows {} open files, and a run of {} processes needs {}", host, files,
                                  processes, needed),
                      "raise the hard limit there (ulimit -Hn, /etc/security/limits.conf)", true});
    const auto cores = node["cores"].get<double>();
    if (cores != median(values_of(nodes, "cores")))
        to.push_back({fmt::format("{} has {} cores, and most hosts have {}", host, cores,
                                  median(values_of(nodes, "cores"))),
                      "state platform.cores, or leave the host out"});
    if (const auto load = node["load"].get<double>(); load > 0.25 * cores)
        to.push_back({fmt::format("{} is busy: a load of {:.1f} on {} cores", host, load, cores),
                      "see what runs there (top), because it disturbs times"});
    if (node["quota"].is_number() && node["quota"].get<double>() < cores)
        to.push_back({fmt::format("{} lets its processes have {} of {} cores", host,
                                  node["quota"].get<double>(), cores),
                      "ask for more cores, or state platform.cores"});
    const auto as_here = [&node](const Json& other) {
        return other.contains("error") || other["kernel"] == node["kernel"];
    };
    if (!std::ranges::all_of(nodes, as_here) && node["kernel"] != nodes[0].value("kernel", Json()))
        to.push_back({fmt::format("{} runs Linux {}", host, node["kernel"].get<std::string>()),
                      "times of hosts with unlike kernels may differ"});
}

void examine_pair(const Json& pair, const Json& pairs, std::vector<Oddity>& to) {
    const std::string from = pair["from"];
    const std::string way = fmt::format("{} to {}", from, pair["to"].get<std::string>());
    if (pair.contains("error")) {
        to.push_back({fmt::format("{}: {}", way, pair["error"].get<std::string>()),
                      "a firewall must let the hosts connect to each other at any port above 1023, and each "
                      "host must find the other's name",
                      true});
        return;
    }
    const auto latency = pair["latency_seconds"].get<double>();
    const auto bandwidth = pair["bandwidth"].get<double>();
    const double usual_latency = median(values_of(pairs, "latency_seconds"));
    const double usual_bandwidth = median(values_of(pairs, "bandwidth"));
    if (latency > 10 * usual_latency && latency > 1e-4)
        to.push_back({fmt::format("{} takes {}, and most pairs take {}", way, show_seconds(latency),
                                  show_seconds(usual_latency)),
                      "see which switch or network joins them"});
    if (bandwidth < usual_bandwidth / 4)
        to.push_back({fmt::format("{} carries {}/s, and most pairs carry {}/s", way, show_bytes(bandwidth),
                                  show_bytes(usual_bandwidth)),
                      "see whether a card there runs at a lower speed (ethtool)"});
    if (pair["mtu"].get<double>() != median(values_of(pairs, "mtu")))
        to.push_back({fmt::format("{} has an MTU of {}, and most pairs have {:.0f}", way,
                                  pair["mtu"].get<int>(), median(values_of(pairs, "mtu"))),
                      "set one MTU on all cards of a network (ip link set dev CARD mtu N)"});
    if (std::abs(pair["clock_offset_seconds"].get<double>()) > 1)
        to.push_back({fmt::format("{}: the clocks differ by {:.1f} s", way,
                                  pair["clock_offset_seconds"].get<double>()),
                      "let the hosts set their clocks by NTP"});
}

}  // namespace

std::vector<Oddity> oddities(const Json& found, const std::string& build, std::uint64_t processes) {
    std::vector<Oddity> list;
    for (const Json& node : found["nodes"]) examine_node(node, found["nodes"], build, processes, list);
    for (const Json& pair : found["pairs"]) examine_pair(pair, found["pairs"], list);
    return list;
}

}  // namespace heddle::cli
