// `heddle launch`: starts the processes of a native run on this machine or on several.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "cli/verbs.hpp"
#include "configs/program_code.hpp"
#include "host/command_line.hpp"
#include "host/host_list.hpp"
#include "runtime/native/launch.hpp"

namespace heddle::cli {

namespace {

struct Options {
    std::optional<std::int64_t> nodes;
    std::string hosts, hostfile, address, remote_shell;
};

/// `heddle` after the dashes is this very binary, whether or not it is on the path.
std::string program(const std::string& word) {
    return word == "heddle" ? host::own_program() : word;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::vector<host::HostSlots> hosts_of(const Options& given) {
    if (!given.hosts.empty() && !given.hostfile.empty())
        throw Error("hosts are stated twice", "give --hosts or --hostfile");
    if (!given.hosts.empty()) return host::parse_hosts(given.hosts);
    if (!given.hostfile.empty()) return host::read_hostfile(given.hostfile);
    for (const auto& [option, value] :
         {std::pair{"--address", &given.address}, {"--ssh", &given.remote_shell}})
        if (!value->empty()) throw Error(fmt::format("{} goes with several hosts", option), "add --hosts");
    return {};
}

int launch(const Options& given, std::vector<std::string> command) {
    constexpr std::int64_t nodes_max = 4096;
    const std::vector<host::HostSlots> hosts = hosts_of(given);
    if (!given.nodes && hosts.empty())
        throw Error("the number of nodes is missing", "give -n, or name hosts: --hosts a,b:2");
    std::int64_t nodes = given.nodes.value_or(0);
    if (!given.nodes)
        for (const host::HostSlots& entry : hosts) nodes += entry.slots;
    if (nodes < 1 || nodes > nodes_max) {
        throw Error(fmt::format("cannot launch {} nodes", nodes), fmt::format("-n takes 1 to {}", nodes_max));
    }
    if (command.empty()) {
        throw Error("nothing to launch", "write it like: heddle launch -n 2 -- heddle run configs/fib.yaml");
    }
    command.front() = program(command.front());
    native::HostLaunchOptions options;
    options.nodes = static_cast<NodeId>(nodes);
    options.argv = std::move(command);
    if (hosts.empty()) return native::launch_here(options);
    options.hosts = hosts;
    options.address = given.address;
    options.build = configs::program_id();
    if (!given.remote_shell.empty()) options.remote_shell.before = words_of(given.remote_shell);
    return native::launch_on_hosts(options);
}

}  // namespace

void add_launch(CLI::App& app, Action& action, const std::vector<std::string>& command) {
    const auto given = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("launch", "start the processes of a native run on several nodes");
    verb->add_option("-n,--nodes", given->nodes,
                     "how many processes; each is one node; default: as many as the hosts take");
    verb->add_option("--hosts", given->hosts, "where to start them, by ssh: a,b:2,n[01-16]:4");
    verb->add_option("--hostfile", given->hostfile, "a file with such hosts, one a line");
    verb->add_option("--address", given->address, "this machine's address, as the hosts reach it");
    verb->add_option("--ssh", given->remote_shell, "the command that runs a command on a host; default: ssh");
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
