// Estimates the memory of a simulation from its numbers of hosts, nodes and workers.
#include "sim/platform_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/memory_need.hpp"
#include "sim/platform_file.hpp"

namespace heddle::sim {

void refuse_large(const Platform& platform) {
    // Measured with one core and with four: a node's share of SimGrid's process and of this one, and what a
    // worker takes whose tasks are small.
    constexpr double bytes_per_node = 8 << 10;
    constexpr double bytes_of_worker = 6 << 10;
    std::uint64_t hosts = platform.machines();
    if (!platform.file.empty()) hosts = read_platform_file(platform.file, platform.where).hosts;
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
    need_memory(
        bytes_of_host * static_cast<double>(hosts) +
            (bytes_per_node - bytes_of_host) * static_cast<double>(nodes) + bytes_of_worker * workers +
            of_pairs,
        fmt::format("{} nodes with {:.0f} workers", nodes, workers),
        platform.file.empty() ? "lower platform.nodes" : "lower platform.nodes, or take a smaller file",
        platform.where);
}

}  // namespace heddle::sim
