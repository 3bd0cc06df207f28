// Decides which processes of a run are started where, and what each is told. Watching them is
// host/started_processes.hpp.
#include "runtime/native/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/limits.hpp"
#include "host/machine.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/interfaces.hpp"
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

}  // namespace

void allow_files(NodeId nodes) {
    host::allow_open_files(3 * std::uint64_t{nodes} + Listener::pending_max(nodes) + 64,
                           fmt::format("a run of {} nodes", nodes));
}

std::string stated_address(const std::string& address) {
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        return address.substr(1, address.size() - 2);
    return address.find('/') != std::string::npos || is_interface(address) ? address_on(address) : address;
}

int launch_here(const LaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    allow_files(options.nodes);
    StartedProcesses processes(watching(options));
    const Key key = make_key();
    const KeyInMemory key_file = keep_in_memory(key);
    const std::string address = options.address.empty() ? "127.0.0.1" : stated_address(options.address);
    Rendezvous rendezvous(options.nodes, key, address,
                          options.meeting_max.value_or(meeting_time(options.nodes)), options.ports);
    start_nodes(processes, {0, options.nodes, options.nodes, rendezvous.address(), key, {}, options.argv},
                key_file.path, true, address);
    return processes.run([&](const StartedProcesses::End& end) {
        rendezvous.node_ended(static_cast<NodeId>(end.number));
        return false;
    });
}

int launch_part(const std::string& build) {
    const std::string sign = std::string(begin_sign) + "\n";
    (void)!write(STDERR_FILENO, sign.data(), sign.size());
    StartedProcesses processes({LaunchOptions{}.grace, LaunchOptions{}.terminate, exit_code_lost});
    const LaunchPart part = read_launch_part(STDIN_FILENO);
    if (part.build != build) {
        throw Error(fmt::format("{} on {} is another build than the launcher's", host::own_program(),
                                host::host_name()),
                    "install the same build there, or share its folder");
    }
    allow_files(part.nodes);
    const KeyInMemory key_file = keep_in_memory(part.key);
    start_nodes(processes, part, key_file.path, false, local_address_towards(host_of(part.rendezvous)));
    processes.end_with(STDIN_FILENO);
    return processes.run([](const StartedProcesses::End&) { return false; });
}

}  // namespace heddle::native
