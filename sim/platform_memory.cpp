// Estimates the memory of a simulation from its numbers of hosts, nodes and workers.
#include "sim/platform_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/memory_need.hpp"
#include "base/platform_networks.hpp"

namespace heddle::sim {

namespace {

/// The hosts that SimGrid makes for a network: all places of its shape, also those that no machine takes.
std::uint64_t hosts_of(const Platform& platform) {
    const heddle::Network& network = platform.network;
    if (network.topology == heddle::Network::Topology::star || network.shape.empty())
        return platform.machines();
    std::uint64_t places = 1;
    for (const std::uint64_t extent : network.shape) places *= extent;
    return std::max<std::uint64_t>(places, platform.machines());
}

std::uint64_t hosts_generated(const Platform& platform) {
    if (platform.networks.empty()) return hosts_of(platform);
    std::uint64_t hosts = 0;
    for (NetworkId network = 0; network < platform.networks.size(); ++network)
        hosts += hosts_of(platform_of(platform, network));
    return hosts;
}

}  // namespace

void refuse_large(const Platform& platform, const PlatformFile& file) {
    // Measured with one core and with four: a node's share of SimGrid's process and of this one, and what a
    // worker takes whose tasks are small.
    constexpr double bytes_per_node = 8 << 10;
    constexpr double bytes_of_worker = 6 << 10;
    const std::uint64_t hosts = platform.file.empty() ? hosts_generated(platform) : file.hosts;
    // Patterns of hosts are compared with names when SimGrid has loaded the file; then each names a host at
    // least.
    const std::uint64_t least = platform.hosts.empty() ? hosts : platform.hosts.size();
    const std::uint64_t nodes =
        platform.file.empty() || platform.stated_nodes ? platform.nodes : least * platform.processes;
    const double workers = static_cast<double>(nodes) * std::max(platform.cores, CoreId{1});
    constexpr double bytes_of_host = 1400;  // in SimGrid alone
    // What each node knows of each other one, where members change.
    const double of_pairs =
        platform.members_change() ? 17.0 * static_cast<double>(nodes) * static_cast<double>(nodes) : 0;
    std::string what = fmt::format("{} nodes with {:.0f} workers", nodes, workers);
    std::string advice = "lower platform.nodes";
    if (!platform.file.empty()) advice += ", or take a smaller file";
    if (platform.file.empty() && hosts > 2 * std::max<std::uint64_t>(1, platform.networks.size()) * nodes) {
        what += fmt::format(" in a network for {} hosts", hosts);
        advice = "make the network's shape smaller";
    }
    need_memory(bytes_of_host * static_cast<double>(hosts) +
                    (bytes_per_node - bytes_of_host) * static_cast<double>(nodes) +
                    bytes_of_worker * workers + of_pairs,
                what, advice, platform.where);
}

}  // namespace heddle::sim
