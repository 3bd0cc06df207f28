// `heddle launch`: starts the processes of a native run on this machine or on several.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <iostream>
#include <optional>

#include "base/error.hpp"
#include "cli/option_rules.hpp"
#include "cli/verbs.hpp"
#include "configs/program_code.hpp"
#include "host/command_line.hpp"
#include "host/host_list.hpp"
#include "host/machine.hpp"
#include "host/slurm_job.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/launch_control.hpp"

namespace heddle::cli {

namespace {

constexpr std::int64_t nodes_max = 4096;

struct LaunchOptions {
    std::optional<std::int64_t> nodes;
    std::optional<std::int64_t> capacity;
    std::string hosts, hostfile, address, ports, remote_shell, name, join;
    double meeting_seconds = 0;
    std::optional<std::int64_t> branches;
};

/// `heddle` after the dashes is this very binary, whether or not it is on the path.
std::string program(const std::string& word) {
    return word == "heddle" ? host::own_program() : word;
}

/// Where the nodes go.
struct Hosts {
    std::vector<host::HostSlots> list;  ///< empty: this machine
    bool by_srun = false;               ///< they are those of a Slurm job
};

std::uint64_t slots_of(const Hosts& hosts) {
    std::uint64_t slots = 0;
    for (const host::HostSlots& entry : hosts.list) slots += entry.slots;
    return slots;
}

Hosts hosts_of(const LaunchOptions& given) {
    if (!given.hosts.empty() && !given.hostfile.empty())
        throw Error("hosts are stated twice", "give --hosts or --hostfile");
    if (!given.hosts.empty()) return {host::parse_hosts(given.hosts)};
    if (!given.hostfile.empty()) return {host::read_hostfile(given.hostfile)};
    if (!given.remote_shell.empty()) throw Error("--ssh goes with several hosts", "add --hosts");
    if (const auto allocated = host::slurm_hosts()) return {*allocated, true};
    if (given.branches) throw Error("--branches goes with several hosts", "add --hosts");
    return {};
}

NodeId nodes_of(const LaunchOptions& given, const Hosts& hosts) {
    if (!given.nodes && hosts.list.empty())
        throw Error("the number of nodes is missing", "give -n, or name hosts: --hosts a,b:2");
    const auto slots = static_cast<std::int64_t>(slots_of(hosts));
    const std::int64_t nodes = given.nodes.value_or(slots);
    if (nodes < 1 || nodes > nodes_max)
        throw Error(fmt::format("cannot launch {} nodes", nodes), fmt::format("-n takes 1 to {}", nodes_max));
    if (hosts.by_srun && nodes > slots) {
        throw Error(
            fmt::format("{} nodes, and the Slurm job has {} task{}", nodes, slots, slots == 1 ? "" : "s"),
            fmt::format("ask for more (salloc -n {}), or name hosts (--hosts a,b:2)", nodes));
    }
    return static_cast<NodeId>(nodes);
}

/// A step of the job on one host. It takes no resources from other steps, and may use all cores of the job.
native::RemoteShell srun_shell() {
    return {{"srun", "--nodes=1", "--ntasks=1", "--overlap", "--mpi=none", "--cpu-bind=none", "--unbuffered",
             "--quiet", "--nodelist"},
            {"sh", "-c"}};
}

/// Asks a launch that goes on for more nodes.
int join(const LaunchOptions& given, const std::vector<std::string>& command) {
    if (!command.empty() || given.capacity || !given.name.empty() || !given.hosts.empty() ||
        !given.hostfile.empty())
        throw Error("--join asks a launch that goes on, which knows the command and the hosts",
                    "write it like: heddle launch --join RUN -n 2");
    const std::int64_t count = given.nodes.value_or(1);
    if (count < 1 || count > nodes_max)
        throw Error(fmt::format("cannot launch {} nodes", count), fmt::format("-n takes 1 to {}", nodes_max));
    std::cout << native::join_run(given.join, static_cast<NodeId>(count)) << '\n';
    return 0;
}

int launch(const LaunchOptions& given, std::vector<std::string> command) {
    if (!given.join.empty()) return join(given, command);
    const Hosts hosts = hosts_of(given);
    native::HostLaunchOptions options;
    options.nodes = nodes_of(given, hosts);
    if (given.capacity) {
        if (*given.capacity < 1 || *given.capacity > nodes_max)
            throw Error(fmt::format("a capacity of {} nodes", *given.capacity),
                        fmt::format("--capacity takes 1 to {}", nodes_max));
        options.capacity = static_cast<NodeId>(*given.capacity);
    } else if (!given.name.empty()) {
        throw Error("--name is for a run that nodes may join", "add --capacity");
    }
    options.name = given.name;
    if (command.empty()) {
        throw Error("nothing to launch", "write it like: heddle launch -n 2 -- heddle run configs/fib.yaml");
    }
    command.front() = program(command.front());
    options.argv = std::move(command);
    options.address = given.address;
    options.ports = native::parse_ports(given.ports);
    if (given.meeting_seconds > 0)
        options.meeting_max = std::chrono::ceil<std::chrono::milliseconds>(
            std::chrono::duration<double>(given.meeting_seconds));
    const bool here = hosts.by_srun && hosts.list.size() == 1 && hosts.list[0].host == host::host_name();
    if (hosts.list.empty() || here) return native::launch_here(options);
    options.hosts = hosts.list;
    options.build = configs::program_id();
    if (given.branches) {
        if (*given.branches < 1)
            throw Error(fmt::format("--branches {}", *given.branches), "each host starts 1 other or more");
        options.branches = static_cast<NodeId>(std::min<std::int64_t>(*given.branches, host::hosts_max));
    }
    if (hosts.by_srun) options.remote_shell = srun_shell();
    if (!given.remote_shell.empty()) options.remote_shell.before = host::words_of(given.remote_shell);
    // Otherwise the host's name would be the command.
    if (options.remote_shell.before.empty())
        throw Error("--ssh names no command", "leave it out for ssh, or write it like: --ssh 'ssh -p 2222'");
    return native::launch_on_hosts(options);
}

}  // namespace

void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& command) {
    const auto given = std::make_shared<LaunchOptions>();
    CLI::App* verb = app.add_subcommand("launch", "start the processes of a native run on several nodes");
    verb->add_option(
        "-n,--nodes", given->nodes,
        "how many processes; each is one node; default: as many as the hosts take, or as the Slurm "
        "job has tasks");
    verb->add_option("--capacity", given->capacity,
                     "so many nodes may take part in all: the others join while the run goes on");
    verb->add_option("--name", given->name, "what to call a run that others may join; default: its process");
    verb->add_option("--join", given->join, "start -n more nodes (default 1) of the launch with that name");
    verb->add_option("--hosts", given->hosts, "where to start them, by ssh: a,b:2,n[01-16]:4");
    verb->add_option("--hostfile", given->hostfile, "a file with such hosts, one a line");
    verb->add_option(
        "--address", given->address,
        "this machine's address, as the hosts reach it: a number, a name, an interface, a subnet");
    verb->add_option("--ports", given->ports, "the ports at which the nodes meet: 40000-40100");
    verb->add_option(
            "--meeting-time", given->meeting_seconds,
            "how many seconds the nodes wait for each other at the meeting; default: 10, and 0.1 a node")
        ->check(CLI::Range(0.0, 1e6));
    verb->add_option("--ssh", given->remote_shell, "the command that runs a command on a host; default: ssh");
    verb->add_option(
        "--branches", given->branches,
        fmt::format("how many hosts are started from here, and by each of them in turn; default: {}",
                    native::branches_default));
    refuse_beside(*verb, "--join", {"--address", "--ports", "--meeting-time", "--ssh", "--branches"});
    verb->prefix_command();
    verb->footer("Everything after -- is the command: heddle launch -n 2 -- heddle run configs/fib.yaml");
    verb->callback([verb, given, command, &action] {
        std::vector<std::string> words = command.empty() ? verb->remaining() : command;
        action = [given, words] { return launch(*given, words); };
    });
    // What `launch --hosts` starts on each host.
    CLI::App* part = app.add_subcommand("launch-part", "");
    part->group("");
    part->callback([&action] { action = [] { return native::launch_part(configs::program_id()); }; });
}

}  // namespace heddle::cli
