// Makes the native backend of an experiment: what carries its messages, at which addresses, and which node of
// the run this process is.
#include "cli/native_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/platform_networks.hpp"
#include "runtime/core/registered.hpp"
#include "runtime/native/interfaces.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/mpi_start.hpp"
#include "runtime/native/native_backend.hpp"

namespace heddle::cli {

namespace {

/// What all processes of a native run must have in common.
native::Agreement agreement_of(const configs::Experiment& experiment) {
    native::Agreement agreement;
    agreement.program = runtime::registered_functions();
    agreement.experiment = std::stoull(configs::cell_name(experiment), nullptr, 16);
    const auto settings = nlohmann::ordered_json::parse(configs::resolved_json(experiment)).flatten();
    for (const auto& [path, value] : settings.items()) {
        std::string key = path.substr(std::min<std::size_t>(path.size(), 1));
        std::ranges::replace(key, '/', '.');
        // What the cell's name leaves out.
        if (key == "name" || key == "repeat" || key.starts_with("compare")) continue;
        agreement.settings += fmt::format("{} = {}\n", key, value.dump());
    }
    return agreement;
}

native::Receive receive_of(configs::Messages::Receive receive) {
    using From = configs::Messages::Receive;
    switch (receive) {
        case From::automatic:
            return native::Receive::automatic;
        case From::block:
            return native::Receive::block;
        case From::poll:
            return native::Receive::poll;
    }
    throw std::logic_error("a way to receive that is not listed");
}

native::Local local_of(configs::Messages::Local local) {
    using From = configs::Messages::Local;
    switch (local) {
        case From::shared_memory:
            return native::Local::shared_memory;
        case From::unix_socket:
            return native::Local::unix_socket;
        case From::tcp:
            return native::Local::tcp;
    }
    throw std::logic_error("a local transport that is not listed");
}

native::Protection protection_of(configs::Messages::Protection protection) {
    using From = configs::Messages::Protection;
    switch (protection) {
        case From::integrity:
            return native::Protection::integrity;
        case From::encryption:
            return native::Protection::encryption;
        case From::headers:
            return native::Protection::headers;
    }
    throw std::logic_error("a protection that is not listed");
}

std::chrono::nanoseconds as_nanoseconds(Time time) {
    return std::chrono::ceil<std::chrono::nanoseconds>(time);
}

native::PortRange ports_of(const configs::Experiment& experiment) {
    try {
        return native::parse_ports(experiment.messages.ports);
    } catch (const Error& error) {
        throw error.at(experiment.where("transport.ports"));
    }
}

std::string stated_address(const configs::Experiment& experiment) {
    const std::string& interface = experiment.messages.interface;
    try {
        return interface.empty() ? "" : native::address_on(interface);
    } catch (const Error& error) {
        throw error.at(experiment.where("transport.interface"));
    }
}

std::optional<std::chrono::milliseconds> meeting_time_of(const configs::Experiment& experiment) {
    if (experiment.messages.meeting_time == Time::zero()) return std::nullopt;
    return std::chrono::ceil<std::chrono::milliseconds>(experiment.messages.meeting_time);
}

void choose_addresses(const configs::Experiment& experiment, native::NativeOptions& options) {
    options.ports = ports_of(experiment);
    options.meeting_max = meeting_time_of(experiment);
    // A run of one process opens no port.
    if (!options.membership || experiment.messages.interface.empty()) return;
    options.address = options.from = stated_address(experiment);
    // All of the machine's addresses: the system chooses the one to connect from.
    if (native::is_wildcard(options.from)) options.from.clear();
}

/// What carries one of several networks, where this node is in it. `network`: as in a run with one.
native::MeshNetwork carried(const configs::Experiment& experiment, std::size_t index,
                            native::MeshNetwork network) {
    using Kind = configs::NetworkCarrier::Kind;
    const configs::NetworkCarrier& carrier = experiment.carriers[index];
    try {
        if (!carrier.interface.empty())
            network.address = network.from = native::address_on(carrier.interface);
        if (!carrier.ports.empty()) network.ports = native::parse_ports(carrier.ports);
    } catch (const Error& error) {
        throw error.at(experiment.platform.networks[index].where);
    }
    if (native::is_wildcard(network.from)) network.from.clear();
    if (!carrier.transport) return network;
    const auto kind = *carrier.transport;
    network.in_machine = kind == Kind::shared_memory || kind == Kind::unix_socket;
    network.local = kind == Kind::shared_memory ? native::Local::shared_memory
                    : kind == Kind::unix_socket ? native::Local::unix_socket
                                                : native::Local::tcp;
    network.udp.reset();
    if (kind == Kind::udp)
        network.udp.emplace(native::UdpOptions{.segment = experiment.messages.udp_segment_bytes});
    return network;
}

bool is_by_mpi(const configs::NetworkCarrier& carrier) {
    return carrier.transport == configs::NetworkCarrier::Kind::mpi;
}

/// MPI carries one of several networks, so the processes are its ranks.
void join_mpi_too(const configs::Experiment& experiment, const Location& where,
                  native::NativeOptions& options) {
    const auto started = [&] {
        const native::Membership self = native::join_mpi();
        return options.membership && self.rank == options.membership->rank &&
               self.nodes == options.membership->nodes;
    };
    if (!native::mpi_hint() || !started())
        throw Error("MPI carries a network, and its ranks are not the nodes of this run",
                    fmt::format("start them with: mpirun -n {} heddle run ...", experiment.platform.nodes),
                    where);
    options.mpi.emplace();
}

void choose_carriers(const configs::Experiment& experiment, native::NativeOptions& options) {
    const NodeId rank = options.membership ? options.membership->rank : 0;
    const native::MeshNetwork as_one{.address = options.address,
                                     .ports = options.ports,
                                     .from = options.from,
                                     .local = options.local,
                                     .udp = options.udp};
    for (std::size_t i = 0; i < experiment.carriers.size(); ++i) {
        const bool joins = std::ranges::binary_search(experiment.platform.networks[i].members, rank);
        native::MeshNetwork& network = options.networks.emplace_back(as_one);
        if (joins) network = carried(experiment, i, as_one);
        const bool by_mpi = is_by_mpi(experiment.carriers[i]);
        if (by_mpi && !options.mpi) join_mpi_too(experiment, experiment.platform.networks[i].where, options);
        network.by_mpi = by_mpi;
    }
}

/// When this node leaves, and when node 0 asks for which.
void plan_members(const Platform& platform, native::NativeOptions& options) {
    options.at_start = platform.nodes_at_start == 0 ? platform.nodes : platform.nodes_at_start;
    const NodeId rank = options.membership ? options.membership->rank : 0;
    for (const NodeEvent& event : platform.events) {
        if (!event.member) continue;
        if (!*event.member && event.node == rank) options.leave_at = event.at;
        if (*event.member && rank == 0) options.joins.push_back({event.at, event.node});
    }
}

}  // namespace

native::JobMeeting job_meeting(const configs::Experiment& experiment) {
    return {stated_address(experiment), ports_of(experiment), meeting_time_of(experiment)};
}

void start_mpi_first(const configs::Experiment& experiment) {
    if (native::mpi_hint() && std::ranges::any_of(experiment.carriers, is_by_mpi)) (void)native::join_mpi();
}

void check_ports(const configs::Experiment& experiment) {
    (void)ports_of(experiment);
}

std::unique_ptr<runtime::Backend> make_native(const configs::Experiment& experiment,
                                              std::vector<std::uint32_t> group) {
    native::NativeOptions options;
    options.cores = experiment.platform.cores;
    options.stack_bytes = experiment.schedule.stack_bytes;
    options.core_speed = experiment.platform.core_speed;
    options.latency = 2 * experiment.platform.network.latency;  // to the switch, and from it
    options.bandwidth = experiment.platform.network.bandwidth;
    const bool by_mpi = experiment.transport == configs::Transport::mpi;
    if (!by_mpi) {
        options.membership = native::membership_from_environment();
        if (!options.membership) options.membership = native::membership_by_job();
    } else if (experiment.platform.nodes > 1) {
        options.membership = native::join_mpi();
        options.mpi.emplace();
    }
    if (options.membership && !options.membership->address.empty())
        options.address = options.membership->address;
    choose_addresses(experiment, options);
    if (experiment.platform.members_change()) plan_members(experiment.platform, options);
    options.group = std::move(group);
    options.routes = network_routes(experiment.platform);
    options.agreement = agreement_of(experiment);
    options.receive = receive_of(experiment.messages.receive);
    options.local = local_of(experiment.messages.local);
    options.protection = protection_of(experiment.messages.protection);
    if (experiment.transport == configs::Transport::udp)
        options.udp.emplace(native::UdpOptions{.segment = experiment.messages.udp_segment_bytes});
    if (!by_mpi) choose_carriers(experiment, options);
    options.window = experiment.messages.window_bytes;
    options.times = {as_nanoseconds(experiment.schedule.spin), as_nanoseconds(experiment.schedule.spin_alone),
                     as_nanoseconds(experiment.messages.look), as_nanoseconds(experiment.messages.gather)};
    options.single_module = experiment.schedule.modules == runtime::Modules::single;
    return std::make_unique<native::NativeBackend>(std::move(options));
}

}  // namespace heddle::cli
