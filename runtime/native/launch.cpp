// Decides which processes of a run are started where, and what each is told. Watching them is
// host/started_processes.hpp.
#include "runtime/native/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/limits.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

using host::StartedProcesses;

StartedProcesses::Options watching(const LaunchOptions& options) {
    return {options.grace, options.terminate, exit_code_lost};
}

/// Each process takes two pipes and a connection here, and a connection to each other process there.
void allow_files(NodeId nodes) {
    host::allow_open_files(3 * std::uint64_t{nodes} + Listener::pending_max(nodes) + 64,
                           fmt::format("a run of {} nodes", nodes));
}

/// Starts the nodes of `part`, which are processes of this machine.
void start_nodes(StartedProcesses& processes, const LaunchPart& part, const std::string& key_file,
                 bool with_input, const std::string& address) {
    for (NodeId i = 0; i < part.count; ++i) {
        const NodeId node = part.first + i;
        StartedProcesses::Start start;
        start.node = node;
        start.name = fmt::format("node {}", node);
        start.line_prefix = fmt::format("[node {}] ", node);
        start.argv = part.argv;
        start.environment = {
            {environment::rank, std::to_string(node)},
            {environment::nodes, std::to_string(part.nodes)},
            {environment::rendezvous, part.rendezvous},
            {environment::key_file, key_file},
            {environment::local_rank, std::to_string(i)},
            {environment::local_count, std::to_string(part.count)},
            {environment::address, address},
        };
        start.own_input = node == 0 && with_input;
        start.own_output = start.own_error = node == 0;
        processes.start(start);
    }
}

// --- on several hosts

/// Without `user@`.
std::string name_of_host(const std::string& host) {
    return host.substr(host.find('@') + 1);
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

/// Where this machine can be reached by the hosts.
std::string meeting_address(const HostLaunchOptions& options) {
    if (!options.address.empty()) return options.address;
    const auto far = std::ranges::find_if(
        options.hosts, [](const auto& entry) { return !is_loopback(name_of_host(entry.host)); });
    if (far == options.hosts.end()) return "127.0.0.1";
    try {
        return local_address_towards(name_of_host(far->host));
    } catch (const Error& error) {
        throw Error(fmt::format("at which address do the hosts reach this machine? {}", error.message()),
                    "state it: heddle launch --address ADDRESS");
    }
}

/// The hosts that get nodes, with how many.
std::vector<host::HostSlots> filled(const HostLaunchOptions& options) {
    std::uint64_t slots = 0;
    for (const host::HostSlots& entry : options.hosts) slots += entry.slots;
    if (options.nodes > slots) {
        throw Error(fmt::format("{} nodes, and the hosts take {}", options.nodes, slots),
                    "name more hosts, or say how many nodes each takes: a:2,b:4");
    }
    std::vector<host::HostSlots> used;
    NodeId left = options.nodes;
    for (host::HostSlots entry : options.hosts) {
        if (left == 0) break;
        entry.slots = std::min(entry.slots, left);
        left -= entry.slots;
        used.push_back(entry);
    }
    return used;
}

std::string failure_of(const std::string& host, int code, const HostLaunchOptions& options) {
    if (code == 255) {
        return fmt::format(
            "heddle: the remote shell could not start anything on {}; this must work without a "
            "question: {} {} true\n",
            host, fmt::join(options.remote_shell, " "), host);
    }
    if (code == 126 || code == 127) {
        return fmt::format(
            "heddle: {} cannot be run on {}; install this build there at the same path, or share "
            "its folder\n",
            host::own_program(), host);
    }
    return {};
}

}  // namespace

int launch_here(const LaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    allow_files(options.nodes);
    StartedProcesses processes(watching(options));
    const Key key = make_key();
    const KeyInMemory key_file = keep_in_memory(key);
    Rendezvous rendezvous(options.nodes, key, "127.0.0.1",
                          options.meeting_max.value_or(meeting_time(options.nodes)));
    start_nodes(processes, {0, options.nodes, options.nodes, rendezvous.address(), key, options.argv},
                key_file.path, true, "127.0.0.1");
    return processes.run([&](const StartedProcesses::End& end) {
        rendezvous.node_ended(static_cast<NodeId>(end.number));
        return false;
    });
}

int launch_on_hosts(const HostLaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    const std::vector<host::HostSlots> hosts = filled(options);
    allow_files(options.nodes);
    StartedProcesses processes(watching(options));
    const Key key = make_key();
    Rendezvous rendezvous(options.nodes, key, meeting_address(options),
                          options.meeting_max.value_or(meeting_time(options.nodes)));
    const std::string command =
        fmt::format("cd {} && exec {}", host::shell_words({std::filesystem::current_path().string()}),
                    host::shell_words({host::own_program(), "launch-part"}));
    std::vector<NodeId> first_nodes;
    NodeId first = 0;
    for (const host::HostSlots& entry : hosts) {
        StartedProcesses::Start start;
        start.node = first;
        start.name = fmt::format("host {}", entry.host);
        start.argv = options.remote_shell;
        start.argv.push_back(entry.host);
        start.argv.push_back(command);
        start.own_output = first == 0;
        start.told = pack({first, entry.slots, options.nodes, rendezvous.address(), key, options.argv});
        first_nodes.push_back(first);
        processes.start(start);
        first += entry.slots;
    }
    return processes.run([&](const StartedProcesses::End& end) {
        rendezvous.node_ended(first_nodes[end.number]);
        const std::string failure = failure_of(hosts[end.number].host, end.code, options);
        if (end.asked || failure.empty()) return false;
        (void)!write(STDERR_FILENO, failure.data(), failure.size());
        return true;
    });
}

int launch_part() {
    StartedProcesses processes({LaunchOptions{}.grace, LaunchOptions{}.terminate, exit_code_lost});
    const LaunchPart part = read_launch_part(STDIN_FILENO);
    allow_files(part.nodes);
    const KeyInMemory key_file = keep_in_memory(part.key);
    start_nodes(processes, part, key_file.path, false, local_address_towards(host_of(part.rendezvous)));
    processes.end_with(STDIN_FILENO);
    return processes.run([](const StartedProcesses::End&) { return false; });
}

}  // namespace heddle::native
