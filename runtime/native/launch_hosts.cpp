// Starts the processes of a native run on several hosts, and says what went wrong on which.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "host/command_line.hpp"
#include "host/started_processes.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/launch.hpp"
#include "runtime/native/launch_control.hpp"
#include "runtime/native/launch_part.hpp"
#include "runtime/native/launch_tree.hpp"
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
    // A wildcard is the address of no host.
    const std::string stated = options.address.empty() ? "" : stated_address(options.address);
    if (!stated.empty() && !is_wildcard(stated)) return stated;
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

/// One host and how much of it is used.
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
                      [this](const StartRequest& request) { queue_.ask(request); }),
          tree_(processes_, told(), {}, options.begin_max) {}

    int run() {
        std::optional<LaunchControl> control;
        if (options_.capacity) {
            control.emplace(options_.name, queue_);
            say_how_to_join(*control);
        }
        processes_.notes_to([this](std::size_t, const std::string& note) {
            if (const auto node = ended_node(note)) rendezvous_.node_ended(*node);
        });
        for (NodeId first = 0; Place & place : hosts_) {
            const NodeId count = std::min(place.slots, nodes_.at_start - first);
            if (count > 0) used_.push_back(take(place, first, count));
            first += count;
        }
        tree_.start(used_);
        processes_.attend_to(queue_.event().get(),
                             [this] { queue_.serve([this](NodeId node) { return start_late(node); }); });
        const int code = processes_.run([this](const StartedProcesses::End& end) { return note(end); });
        if (code != 0 && !named_) say_where_the_nodes_were();
        return code;
    }

private:
    static constexpr std::size_t hosts_named_max = 32;

    LaunchPart told() const {
        return {.nodes = nodes_.capacity,
                .at_start = options_.capacity ? nodes_.at_start : 0,
                .rendezvous = rendezvous_.address(),
                .key = key_,
                .build = options_.build,
                .argv = options_.argv,
                .remote_shell = options_.remote_shell,
                .branches = options_.branches};
    }

    /// Slots for nodes.
    HostNodes take(Place& place, NodeId first, NodeId count) const {
        const NodeId local_first = place.used;
        place.used += count;
        return {place.host, first, count, local_first, options_.capacity ? place.slots : count};
    }

    /// On the first host that has a slot left.
    std::string start_late(NodeId node) {
        for (Place& place : hosts_) {
            if (place.used == place.slots) continue;
            Place after = place;
            const HostNodes nodes = take(after, node, 1);
            tree_.start({nodes}, true);  // if that fails, the slot is still free
            place = after;
            used_.push_back(nodes);
            return "on " + place.host;
        }
        throw Error("no host has a free slot");
    }

    /// True: what went wrong has been said.
    bool note(const StartedProcesses::End& end) {
        const LaunchTree::Branch& branch = *tree_.branch(end.number);
        if (!end.late)
            LaunchTree::for_each_node(branch, [this](NodeId node) { rendezvous_.node_ended(node); });
        if (!tree_.note(end)) return false;
        named_ = named_ || !branch.spare;
        return true;
    }

    void say_where_the_nodes_were() const {
        std::string text;
        for (std::size_t i = 0; i < std::min(used_.size(), hosts_named_max); ++i) {
            const HostNodes& part = used_[i];
            const NodeId last = part.first + part.count - 1;
            text += fmt::format("{}{} on {}", i == 0 ? "" : ", ",
                                last == part.first ? fmt::format("node {}", last)
                                                   : fmt::format("nodes {} to {}", part.first, last),
                                part.host);
        }
        const std::string line =
            fmt::format("heddle: {}{}\n", text, used_.size() > hosts_named_max ? ", ..." : "");
        (void)!write(STDERR_FILENO, line.data(), line.size());
    }

    const HostLaunchOptions& options_;
    Places nodes_;
    std::vector<Place> hosts_;
    StartedProcesses processes_;
    Key key_;
    StartQueue queue_;
    Rendezvous rendezvous_;
    LaunchTree tree_;
    std::vector<HostNodes> used_;
    bool named_ = false;  ///< a message has named the host that failed
};

}  // namespace

int launch_on_hosts(const HostLaunchOptions& options) {
    return HostLaunch(options).run();
}

}  // namespace heddle::native
