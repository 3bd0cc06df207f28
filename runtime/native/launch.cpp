// Decides which processes of a run are started where, and what each is told. Watching them is
// host/started_processes.hpp.
#include "runtime/native/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/limits.hpp"
#include "host/machine.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/launch_control.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/launch_tree.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

using host::StartedProcesses;

StartedProcesses::Options watching(const LaunchOptions& options) {
    return {
        .grace = options.grace, .terminate = options.terminate, .weak_code = exit_code_lost, .adopts = true};
}

/// Node 0's standard error: the caller's own, or a stream of which whole lines are passed on. Between whole
/// lines the notes of a part of a launch are found.
enum class ErrorOfNode0 : std::uint8_t { callers, lines };

/// Starts the nodes that `part` says are here, which are processes of this machine. Node 0 has the caller's
/// standard input with its standard error.
void start_nodes(StartedProcesses& processes, const LaunchPart& part, const std::string& key_file,
                 ErrorOfNode0 error, const std::string& address, bool spare = false) {
    for (NodeId i = 0; i < part.here.count; ++i) {
        const NodeId node = part.here.first + i;
        StartedProcesses::Start start;
        start.node = node;
        start.name = fmt::format("node {}", node);
        start.line_prefix = node == 0 ? "" : fmt::format("[node {}] ", node);
        start.foreign = note_sign;
        start.argv = part.argv;
        start.environment = {
            {environment::rank, std::to_string(node)},
            {environment::nodes, std::to_string(part.nodes)},
            {environment::rendezvous, part.rendezvous},
            {environment::key_file, key_file},
            {environment::local_rank, std::to_string(part.here.local_first + i)},
            {environment::local_count, std::to_string(part.here.local_count)},
            {environment::address, address},
            // Empty: of no meaning. It may be that of a launch that has started this one.
            {environment::at_start, part.at_start == 0 ? "" : std::to_string(part.at_start)},
        };
        start.own_output = node == 0;
        start.own_input = start.own_error = node == 0 && error == ErrorOfNode0::callers;
        start.spare = spare;
        processes.start(start);
    }
}

}  // namespace

std::uint64_t files_of_launch(std::uint64_t nodes) {
    return 3 * nodes + Listener::pending_max(nodes) + 64;
}

void allow_files(NodeId nodes) {
    host::allow_open_files(files_of_launch(nodes), fmt::format("a run of {} nodes", nodes));
}

void let_node_0_speak() {
    std::this_thread::sleep_for(LaunchOptions{}.grace + std::chrono::seconds(1));
}

std::string stated_address(const std::string& address) {
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        return address.substr(1, address.size() - 2);
    const bool name = address.find('/') == std::string::npos && !is_interface(address) &&
                      !is_number(address) && is_resolved(address);
    return name ? address : address_on(address);  // which says what addresses there are
}

Places places_of(const LaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    const NodeId capacity = options.capacity.value_or(options.nodes);
    if (capacity < options.nodes)
        throw Error(fmt::format("{} nodes are to begin, and the capacity is {}", options.nodes, capacity),
                    "the capacity counts all nodes that ever take part");
    allow_files(capacity);
    return {options.nodes, capacity};
}

void say_how_to_join(const LaunchControl& control) {
    const std::string line =
        fmt::format("heddle: this is run {0}; nodes join it by: heddle launch --join {0}\n", control.run());
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

namespace {

/// To what has started this part of a launch.
void write_note(const std::string& note) {
    const std::string line = fmt::format("{}{}\n", note_sign, note);
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

int launch_here(const LaunchOptions& options) {
    const Places places = places_of(options);
    StartedProcesses processes(watching(options));
    const Key key = make_key();
    const KeyInMemory key_file = keep_in_memory(key);
    const std::string address = options.address.empty() ? "127.0.0.1" : stated_address(options.address);
    StartQueue queue(places);
    Rendezvous rendezvous(places, key, address, options.meeting_max.value_or(meeting_time(places.capacity)),
                          options.ports, [&queue](const StartRequest& request) { queue.ask(request); });
    std::optional<LaunchControl> control;
    LaunchPart part;
    part.nodes = places.capacity;
    part.at_start = options.capacity ? places.at_start : 0;
    part.rendezvous = rendezvous.address();
    part.key = key;
    part.argv = options.argv;
    part.here.count = places.at_start;
    part.here.local_count = places.capacity;
    if (options.capacity) {
        control.emplace(options.name, queue);
        say_how_to_join(*control);
    }
    start_nodes(processes, part, key_file.path, ErrorOfNode0::callers, address);
    std::vector<NodeId> nodes(places.at_start);
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    const auto start_one = [&](NodeId node) -> std::string {
        part.here.first = part.here.local_first = node;
        part.here.count = 1;
        start_nodes(processes, part, key_file.path, ErrorOfNode0::callers, address, true);
        nodes.push_back(node);
        return "here";
    };
    processes.attend_to(queue.event().get(), [&] { queue.serve(start_one); });
    return processes.run([&](const StartedProcesses::End& end) {
        rendezvous.node_ended(nodes[end.number]);
        return false;
    });
}

int launch_part(const std::string& build) {
    write_note(std::string(begin_note));
    const HostLaunchOptions defaults;
    StartedProcesses::Options options = watching(defaults);
    options.begin_max = defaults.begin_max;
    StartedProcesses processes(options);
    const LaunchPart part = read_launch_part(STDIN_FILENO);
    if (part.build != build) {
        throw Error(fmt::format("{} on {} is another build than the launcher's", host::own_program(),
                                host::host_name()),
                    "install the same build there, or share its folder");
    }
    allow_files(part.nodes);
    const KeyInMemory key_file = keep_in_memory(part.key);
    processes.end_with(STDIN_FILENO);
    LaunchTree further(processes, part, host::host_name(), defaults.begin_max);
    further.start(part.further);
    const std::size_t first =
        part.further.empty() ? 0 : std::min<std::size_t>(part.branches, part.further.size());
    start_nodes(processes, part, key_file.path, ErrorOfNode0::lines,
                local_address_towards(host_of(part.rendezvous)));
    const auto note_ended = [](NodeId node) { write_note(fmt::format("{}{}", ended_note, node)); };
    processes.notes_to([&](std::size_t, const std::string& note) {
        if (const auto node = ended_node(note)) note_ended(*node);
    });
    return processes.run([&](const StartedProcesses::End& end) {
        const LaunchTree::Branch* const branch = further.branch(end.number);
        if (!branch) {
            note_ended(part.here.first + static_cast<NodeId>(end.number - first));
            return false;
        }
        // If the process there was killed, it has not said which of its nodes have ended.
        if (end.code != 0 && !end.late) LaunchTree::for_each_node(*branch, note_ended);
        return further.note(end);
    });
}

}  // namespace heddle::native
