// Starts the processes of a native run on several hosts, and says what went wrong on which.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/native_backend.hpp"
#include "runtime/native/rendezvous.hpp"
#include "runtime/native/socket.hpp"

namespace heddle::native {

namespace {

using host::StartedProcesses;

/// Without `user@`.
std::string name_of_host(const std::string& host) {
    return host.substr(host.find('@') + 1);
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

/// Where this machine can be reached by the hosts.
std::string meeting_address(const HostLaunchOptions& options) {
    if (!options.address.empty()) return stated_address(options.address);
    std::string towards;
    // A host's own name leads to itself by a loopback address: the way to another host is the better one.
    for (const host::HostSlots& entry : options.hosts) {
        const std::string name = name_of_host(entry.host);
        if (is_loopback(name)) continue;
        try {
            const std::string address = local_address_towards(name);
            if (!address.starts_with("127.") && address != "::1") return address;
        } catch (const Error& error) {
            towards = error.message();
            break;
        }
    }
    const bool here = std::ranges::all_of(
        options.hosts, [](const auto& entry) { return is_loopback(name_of_host(entry.host)); });
    if (here || (towards.empty() && options.hosts.size() == 1)) return "127.0.0.1";
    throw Error(fmt::format("at which address do the hosts reach this machine? {}", towards),
                "state it: heddle launch --address ADDRESS");
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

void say(const std::string& text) {
    const std::string line = fmt::format("heddle: {}\n", text);
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

class HostLaunch {
public:
    explicit HostLaunch(const HostLaunchOptions& options)
        : options_(options),
          hosts_(filled(options)),
          processes_({options.grace, options.terminate, exit_code_lost, options.begin_max}),
          key_(make_key()),
          rendezvous_(options.nodes, key_, meeting_address(options),
                      options.meeting_max.value_or(meeting_time(options.nodes)), options.ports) {}

    int run() {
        NodeId first = 0;
        for (const host::HostSlots& entry : hosts_) {
            start(entry, first);
            first_nodes_.push_back(first);
            first += entry.slots;
        }
        const int code = processes_.run([this](const StartedProcesses::End& end) { return note(end); });
        if (code != 0 && !named_) say(where_the_nodes_were());
        return code;
    }

private:
    static constexpr std::size_t hosts_named_max = 32;

    void start(const host::HostSlots& entry, NodeId first) {
        const std::string command =
            fmt::format("cd {} && exec {}", host::shell_words({std::filesystem::current_path().string()}),
                        host::shell_words({host::own_program(), "launch-part"}));
        StartedProcesses::Start start;
        start.node = first;
        start.name = fmt::format("host {}", entry.host);
        start.argv = options_.remote_shell.before;
        start.argv.push_back(entry.host);
        start.argv.insert(start.argv.end(), options_.remote_shell.after.begin(),
                          options_.remote_shell.after.end());
        start.argv.push_back(command);
        start.own_output = first == 0;
        start.told = pack(
            {first, entry.slots, options_.nodes, rendezvous_.address(), key_, options_.build, options_.argv});
        start.sign = begin_sign;
        processes_.start(start);
    }

    /// True: what went wrong has been said.
    bool note(const StartedProcesses::End& end) {
        const host::HostSlots& entry = hosts_[end.number];
        rendezvous_.node_ended(first_nodes_[end.number]);
        if (end.code == 0 || end.asked) return false;
        const std::string failure = end.late ? late(entry) : end.begun ? "" : not_begun(entry, end.code);
        if (failure.empty()) return false;
        say(failure);
        named_ = true;
        return true;
    }

    std::string late(const host::HostSlots& entry) const {
        return fmt::format(
            "node {} did not start on {} within {} s; see what takes so long there: {} {} true",
            first_nodes_[&entry - hosts_.data()], entry.host,
            static_cast<double>(options_.begin_max.count()) / 1000,
            fmt::join(options_.remote_shell.before, " "), entry.host);
    }

    std::string not_begun(const host::HostSlots& entry, int code) const {
        if (code == 255) {
            return fmt::format(
                "the remote shell could not start anything on {}; this must work without a question: {} {} "
                "true",
                entry.host, fmt::join(options_.remote_shell.before, " "), entry.host);
        }
        if (code == 126 || code == 127) {
            return fmt::format(
                "{} cannot be run on {}; install this build there at the same path, or share its folder",
                host::own_program(), entry.host);
        }
        return fmt::format("nothing was started on {} (exit code {}); the folder {} must be there",
                           entry.host, code, std::filesystem::current_path().string());
    }

    std::string where_the_nodes_were() const {
        std::string text;
        for (std::size_t i = 0; i < std::min(hosts_.size(), hosts_named_max); ++i) {
            const NodeId last = first_nodes_[i] + hosts_[i].slots - 1;
            text +=
                fmt::format("{}{} on {}", i == 0 ? "" : ", ",
                            last == first_nodes_[i] ? fmt::format("node {}", last)
                                                    : fmt::format("nodes {} to {}", first_nodes_[i], last),
                            hosts_[i].host);
        }
        return text + (hosts_.size() > hosts_named_max ? ", ..." : "");
    }

    const HostLaunchOptions& options_;
    std::vector<host::HostSlots> hosts_;
    StartedProcesses processes_;
    Key key_;
    Rendezvous rendezvous_;
    std::vector<NodeId> first_nodes_;
    bool named_ = false;  ///< a message has named the host that failed
};

}  // namespace

int launch_on_hosts(const HostLaunchOptions& options) {
    if (options.nodes == 0) throw Error("a run needs at least one node", "launch with -n 1 or more");
    allow_files(options.nodes);
    return HostLaunch(options).run();
}

}  // namespace heddle::native
