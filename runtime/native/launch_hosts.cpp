// Starts the processes of a native run on several hosts, and says what went wrong on which.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/launch_control.hpp"
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

/// One host's part in the launch.
struct Place {
    std::string host;
    NodeId slots;
    NodeId used = 0;
};

/// Throws Error if the hosts take fewer nodes than may take part.
std::vector<Place> places_on(const HostLaunchOptions& options, NodeId capacity) {
    std::uint64_t slots = 0;
    std::vector<Place> places;
    for (const host::HostSlots& entry : options.hosts) {
        slots += entry.slots;
        places.push_back({entry.host, entry.slots});
    }
    if (capacity > slots) {
        throw Error(fmt::format("{} nodes, and the hosts take {}", capacity, slots),
                    "name more hosts, or say how many nodes each takes: a:2,b:4");
    }
    return places;
}

void say(const std::string& text) {
    const std::string line = fmt::format("heddle: {}\n", text);
    (void)!write(STDERR_FILENO, line.data(), line.size());
}

class HostLaunch {
public:
    explicit HostLaunch(const HostLaunchOptions& options)
        : options_(options),
          nodes_(places_of(options)),
          hosts_(places_on(options, nodes_.capacity)),
          processes_({options.grace, options.terminate, exit_code_lost, options.begin_max}),
          key_(make_key()),
          queue_(nodes_),
          rendezvous_(nodes_, key_, meeting_address(options),
                      options.meeting_max.value_or(meeting_time(nodes_.capacity)), options.ports,
                      [this](const StartRequest& request) { queue_.ask(request); }) {}

    int run() {
        std::optional<LaunchControl> control;
        if (options_.capacity) {
            control.emplace(options_.name, queue_);
            say_how_to_join(*control);
        }
        NodeId first = 0;
        for (Place& place : hosts_) {
            const NodeId count = std::min(place.slots, nodes_.at_start - first);
            if (count > 0) start(place, first, count);
            first += count;
        }
        processes_.attend_to(queue_.event().get(),
                             [this] { queue_.serve([this](NodeId node) { return start_late(node); }); });
        const int code = processes_.run([this](const StartedProcesses::End& end) { return note(end); });
        if (code != 0 && !named_) say(where_the_nodes_were());
        return code;
    }

private:
    static constexpr std::size_t hosts_named_max = 32;

    /// One that a process of this launcher runs on a host.
    struct Part {
        const Place* place;
        NodeId first;
        NodeId count;
        bool spare;
    };

    /// On the first host that has a slot left.
    std::string start_late(NodeId node) {
        for (Place& place : hosts_) {
            if (place.used == place.slots) continue;
            start(place, node, 1);
            return "on " + place.host;
        }
        throw Error("no host has a free slot");
    }

    void start(Place& place, NodeId first, NodeId count) {
        const std::string command =
            fmt::format("cd {} && exec {}", host::shell_words({std::filesystem::current_path().string()}),
                        host::shell_words({host::own_program(), "launch-part"}));
        StartedProcesses::Start start;
        start.node = first;
        start.name = fmt::format("host {}", place.host);
        start.argv = options_.remote_shell.before;
        start.argv.push_back(place.host);
        start.argv.insert(start.argv.end(), options_.remote_shell.after.begin(),
                          options_.remote_shell.after.end());
        start.argv.push_back(command);
        start.own_output = first == 0;
        start.told = pack({.first = first,
                           .count = count,
                           .nodes = nodes_.capacity,
                           .at_start = options_.capacity ? nodes_.at_start : 0,
                           .local_first = place.used,
                           .local_count = options_.capacity ? place.slots : count,
                           .rendezvous = rendezvous_.address(),
                           .key = key_,
                           .build = options_.build,
                           .argv = options_.argv});
        start.sign = begin_sign;
        start.spare = first >= nodes_.at_start;
        processes_.start(start);
        place.used += count;
        parts_.push_back({&place, first, count, start.spare});
    }

    /// True: what went wrong has been said.
    bool note(const StartedProcesses::End& end) {
        const Part& part = parts_[end.number];
        for (NodeId node = part.first; node < part.first + part.count; ++node) rendezvous_.node_ended(node);
        if (end.code == 0 || end.asked) return false;
        const std::string failure = end.late ? late(part) : end.begun ? "" : not_begun(*part.place, end.code);
        if (failure.empty()) return false;
        say(failure);
        named_ = named_ || !part.spare;
        return true;
    }

    std::string late(const Part& part) const {
        return fmt::format(
            "node {} did not start on {} within {} s; see what takes so long there: {} {} true", part.first,
            part.place->host, static_cast<double>(options_.begin_max.count()) / 1000,
            fmt::join(options_.remote_shell.before, " "), part.place->host);
    }

    std::string not_begun(const Place& entry, int code) const {
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
        for (std::size_t i = 0; i < std::min(parts_.size(), hosts_named_max); ++i) {
            const Part& part = parts_[i];
            const NodeId last = part.first + part.count - 1;
            text += fmt::format("{}{} on {}", i == 0 ? "" : ", ",
                                last == part.first ? fmt::format("node {}", last)
                                                   : fmt::format("nodes {} to {}", part.first, last),
                                part.place->host);
        }
        return text + (parts_.size() > hosts_named_max ? ", ..." : "");
    }

    const HostLaunchOptions& options_;
    Places nodes_;
    std::vector<Place> hosts_;  ///< does not grow: parts point to its entries
    StartedProcesses processes_;
    Key key_;
    StartQueue queue_;
    Rendezvous rendezvous_;
    std::vector<Part> parts_;  ///< by the process's number
    bool named_ = false;       ///< a message has named the host that failed
};

}  // namespace

int launch_on_hosts(const HostLaunchOptions& options) {
    return HostLaunch(options).run();
}

}  // namespace heddle::native
