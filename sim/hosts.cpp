// Divides the cores of each host of a SimGrid platform among the nodes that share this machine.
#include "sim/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace heddle::sim {

Platform platform_of_hosts(const Platform& platform) {
    Platform hosts = platform;
    hosts.nodes = platform.machines();
    if (platform.file.empty()) hosts.cores = std::max(platform.cores, CoreId{1}) * platform.processes;
    hosts.processes = 1;
    return hosts;
}

CoreId cores_of_node(const Platform& platform, const HostFacts& host) {
    constexpr CoreId cores_max = 65536;  // as of platform.cores (configs/platform_fields.cpp)
    const CoreId cores = host.cores / platform.processes;
    if (cores > cores_max) {
        throw Error(fmt::format("a host has {} cores, and a node has {} at most", host.cores, cores_max),
                    "state platform.cores, which holds in place of the file's", {platform.file, 0});
    }
    if (cores > 0) return cores;
    throw Error(fmt::format("a machine of {} processes, but a host of the platform file has {} {}",
                            platform.processes, host.cores, host.cores == 1 ? "core" : "cores"),
                "lower platform.processes, or state platform.cores, the cores of each process",
                platform.where);
}

void fill_in(Platform& platform, const PlatformFacts& facts, std::vector<std::string>& notes) {
    const auto [few, many] =
        std::minmax_element(facts.hosts.begin(), facts.hosts.end(),
                            [](const HostFacts& a, const HostFacts& b) { return a.cores < b.cores; });
    platform.nodes = static_cast<NodeId>(facts.hosts.size()) * platform.processes;
    if (platform.cores == 0 || (!platform.file.empty() && !platform.stated_cores)) {
        platform.cores = cores_of_node(platform, *few);
        if (few->cores != many->cores) {
            notes.emplace_back("hosts differ in their number of cores; every node has that of the smallest");
        }
        if (platform.cores * platform.processes != few->cores) {
            notes.push_back(fmt::format("{} processes use {} of a host's {} cores", platform.processes,
                                        platform.cores * platform.processes, few->cores));
        }
    }
    if (!platform.file.empty() && !platform.stated_core_speed) {
        platform.core_speed = facts.hosts.front().speed;
    }
    fill_in(platform);
}

void fill_in(Platform& platform) {
    platform.cores = std::max(platform.cores, CoreId{1});
    try {
        complete_nodes(platform);
    } catch (const Error& error) {
        throw error.at(platform.where);
    }
}

}  // namespace heddle::sim
