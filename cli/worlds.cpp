// Makes the backend that an experiment names; a native run takes its nodes from the launched processes.
#include "cli/worlds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/platform_networks.hpp"
#include "cli/native_world.hpp"
#include "host/heap.hpp"
#include "host/machine.hpp"
#include "host/thread_crew.hpp"
#include "host/thread_time.hpp"
#include "partitioners/graph/graph_partitioner.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/native/membership.hpp"
#include "runtime/native/mpi_mesh.hpp"
#include "runtime/native/mpi_start.hpp"
#include "runtime/native/native_backend.hpp"
#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle::cli {

namespace {

[[noreturn]] void no_simulation(const Location& where) {
    throw Error("this heddle was built without simulation",
                "build it with -DHEDDLE_SIM=ON, which needs SimGrid, or state `backend: native`", where);
}

std::vector<std::uint32_t> groups_of(const configs::Experiment& experiment, NodeId nodes) {
    try {
        return cluster_of_nodes(experiment.platform.clusters, nodes);
    } catch (const Error& error) {
        throw error.at(experiment.where("platform.clusters"));
    }
}

std::unique_ptr<runtime::Backend> make_inprocess(const configs::Experiment& experiment) {
    inprocess::Options options;
    options.nodes = experiment.platform.nodes;
    options.cores = experiment.platform.cores;
    options.seed = experiment.seed;
    options.stack_bytes = experiment.schedule.stack_bytes;
    options.group = groups_of(experiment, options.nodes);
    options.routes = network_routes(experiment.platform);
    if (experiment.platform.members_change()) options.at_start = experiment.platform.beginners();
    for (const NodeEvent& event : experiment.platform.events)
        if (event.member) options.member_events.push_back({event.at, event.node, *event.member});
    return std::make_unique<inprocess::InprocessBackend>(options);
}

std::unique_ptr<runtime::Backend> make_sim([[maybe_unused]] const configs::Experiment& experiment,
                                           [[maybe_unused]] unsigned threads) {
#ifdef HEDDLE_SIM
    sim::SimOptions options;
    options.stack_bytes = experiment.schedule.stack_bytes;
    options.seed = experiment.seed;
    options.single_module = experiment.schedule.modules == runtime::Modules::single;
    options.workers_send = experiment.schedule.modules == runtime::Modules::worker;
    options.sends_sequences = experiment.messages.send == configs::Messages::Send::sequence;
    if (experiment.compute == configs::Compute::measured) {
        options.stopwatch = host::thread_seconds;
        host::keep_freed_memory();  // as natively, where the code takes the less time for it
    }
    options.receiver_polls = experiment.messages.receive == configs::Messages::Receive::poll;
    const Platform& platform = experiment.platform;
    options.looks = platform.nodes > 1 ? experiment.schedule.spin : experiment.schedule.spin_alone;
    const bool looks = experiment.messages.receive == configs::Messages::Receive::automatic;
    options.receiver_looks = looks ? experiment.messages.look : Time::zero();
    auto world = std::make_unique<sim::SimBackend>(platform, options);
    // After the platform: building it forks, and a fork copies no other threads.
    if (threads > 1) world->use(std::make_shared<host::ThreadCrew>(threads));
    return world;
#else
    no_simulation(experiment.where("backend"));
#endif
}

}  // namespace

Part part_of_this_process() {
    const auto membership = native::membership_from_environment();
    if (!membership) return {};
    return {membership->rank, membership->nodes, true, false, membership->at_start};
}

void refuse_launch(const std::string& verb, const std::string& advice) {
    if (part_of_this_process().launched)
        throw Error(verb + " starts processes of its own", "leave `heddle launch` out: " + advice);
}

bool by_mpi(const configs::Experiment& experiment) {
    return experiment.backend == configs::Backend::native && experiment.transport == configs::Transport::mpi;
}

namespace {

/// The first of several networks that states that this carries it.
const PartialNetwork* network_by(const configs::Experiment& experiment, configs::NetworkCarrier::Kind kind) {
    if (experiment.backend != configs::Backend::native) return nullptr;
    for (std::size_t i = 0; i < experiment.carriers.size(); ++i)
        if (experiment.carriers[i].transport == kind) return &experiment.platform.networks[i];
    return nullptr;
}

/// MPI may carry all networks, of which none states it then.
const PartialNetwork* network_by_mpi(const configs::Experiment& experiment) {
    if (by_mpi(experiment)) return nullptr;
    return network_by(experiment, configs::NetworkCarrier::Kind::mpi);
}

}  // namespace

bool mpi_carries(const configs::Experiment& experiment) {
    return by_mpi(experiment) || network_by_mpi(experiment) != nullptr;
}

namespace {

void refuse_single_by_mpi(const configs::Experiment& experiment) {
    if (experiment.schedule.modules != runtime::Modules::single) return;
    const std::string what = "schedule.modules is single, which natively is there over TCP and UDP only";
    if (const PartialNetwork* const network = network_by_mpi(experiment))
        throw Error(fmt::format("{}, and MPI carries the network \"{}\"", what, network->name),
                    "state `transport: tcp` there, or leave schedule.modules out", network->where);
    if (!by_mpi(experiment)) return;
    throw Error(what + ", and the transport is mpi",
                "start the processes with `heddle launch` and --set platform.transport=tcp, or leave "
                "schedule.modules out",
                experiment.where("schedule.modules"));
}

void check_sequences(const configs::Experiment& experiment) {
    if (experiment.messages.send != configs::Messages::Send::sequence ||
        experiment.schedule.modules == runtime::Modules::separate)
        return;
    throw Error(
        "transport.send is sequence, which a sender module does, and schedule.modules leaves that out",
        "leave schedule.modules out, or transport.send", experiment.where("transport.send"));
}

/// What is stated holds for all messages of the run, also for those of a network that MPI carries.
void refuse_protection_by_mpi(const configs::Experiment& experiment) {
    if (!experiment.is_stated("transport.protection")) return;
    if (const PartialNetwork* const network = network_by_mpi(experiment))
        throw Error(fmt::format("transport.protection is for TCP, and MPI, which carries the network \"{}\", "
                                "sends messages as they are",
                                network->name),
                    "state `transport: tcp` there, or leave transport.protection out", network->where);
    if (!by_mpi(experiment)) return;
    throw Error("transport.protection is for TCP; MPI sends messages as they are",
                "start the processes with `heddle launch` and --set platform.transport=tcp, or leave "
                "transport.protection out",
                experiment.where("transport.protection"));
}

void refuse_addresses_by_mpi(const configs::Experiment& experiment) {
    if (!by_mpi(experiment)) return;
    for (const std::string key : {"transport.interface", "transport.ports", "transport.meeting_time"}) {
        if (!experiment.is_stated(key)) continue;
        throw Error(fmt::format("{} is for TCP and UDP; MPI has addresses of its own", key),
                    "leave it out, or state platform.transport: tcp", experiment.where(key));
    }
}

void check_udp_segment(const configs::Experiment& experiment) {
    const std::string key = "transport.udp.segment";
    if (!experiment.is_stated(key)) return;
    const bool udp = experiment.transport == configs::Transport::udp ||
                     network_by(experiment, configs::NetworkCarrier::Kind::udp);
    if (experiment.backend == configs::Backend::native && !udp) {
        throw Error(
            fmt::format("{} is for UDP, and the transport is {}", key, configs::name(experiment.transport)),
            "state platform.transport: udp, or `transport: udp` of a network, or leave it out",
            experiment.where(key));
    }
    const std::uint64_t bytes = experiment.messages.udp_segment_bytes;
    if (bytes == 0 || bytes >= native::UdpConnection::datagram_bytes_min) return;
    throw Error(fmt::format("{} is {} bytes, which is too little for an acknowledgement", key, bytes),
                fmt::format("state at least {}B", native::UdpConnection::datagram_bytes_min),
                experiment.where(key));
}

/// MPI carries all networks then.
void refuse_carriers_by_mpi(const configs::Experiment& experiment) {
    if (!by_mpi(experiment)) return;
    for (std::size_t i = 0; i < experiment.carriers.size(); ++i) {
        const auto& carrier = experiment.carriers[i];
        if (carrier.transport.value_or(configs::NetworkCarrier::Kind::mpi) ==
            configs::NetworkCarrier::Kind::mpi)
            continue;
        throw Error(
            "platform.transport is mpi, which carries all networks, and this one states another",
            "leave platform.transport out, and state `transport: mpi` of the networks that MPI is to carry",
            experiment.platform.networks[i].where);
    }
}

void refuse_members_by_mpi(const configs::Experiment& experiment) {
    if (!mpi_carries(experiment) || !experiment.platform.members_change()) return;
    if (const PartialNetwork* const network = network_by_mpi(experiment))
        throw Error("nodes join and leave, and MPI carries a network: all its ranks begin and end together",
                    "state `transport: tcp` there", network->where);
    throw Error("nodes join and leave, which over MPI they cannot: all its ranks begin and end together",
                "start the processes with `heddle launch` and --set platform.transport=tcp",
                experiment.where(experiment.platform.nodes_at_start == 0 ? "platform.events"
                                                                         : "platform.nodes_at_start"));
}

/// Natively the launcher decides how many nodes begin a run, and starts the others.
void check_members(const configs::Experiment& experiment, const Part& part) {
    const Platform& platform = experiment.platform;
    if (!platform.members_change()) return;
    if (experiment.repeat > 1)
        throw Error(
            fmt::format("repeat is {}, and nodes join or leave: a process does so once", experiment.repeat),
            "run it several times, with --set seed=N, or leave repeat out", experiment.where("repeat"));
    if (part.at_start || platform.nodes_at_start == 0 || platform.nodes_at_start == platform.nodes) return;
    throw Error(fmt::format("{} of {} nodes are to begin the run, and all {} were started",
                            platform.nodes_at_start, platform.nodes, part.nodes),
                fmt::format("start them with: heddle launch -n {} --capacity {} -- heddle run ...",
                            platform.nodes_at_start, platform.nodes),
                experiment.where("platform.nodes_at_start"));
}

}  // namespace

Part part_by_mpi(const configs::Experiment& experiment, const Part& part) {
    refuse_single_by_mpi(experiment);  // before it starts processes
    refuse_protection_by_mpi(experiment);
    refuse_members_by_mpi(experiment);
    const Location where = experiment.where("platform.transport");
    const NodeId nodes = experiment.platform.nodes;
    if (part.launched) {
        throw Error("`heddle launch` connects processes by TCP, but the transport is mpi",
                    fmt::format("start them with: mpirun -n {} heddle run ...; or --set "
                                "platform.transport=tcp",
                                part.nodes),
                    where);
    }
    const auto hint = native::mpi_hint();
    try {
        if (!hint && native::mpi_version().empty()) (void)native::join_mpi();  // says what is missing
        if (!hint && nodes == 1) return part;
        if (!hint) native::become_mpirun(nodes);
        const native::Membership self = native::join_mpi();
        if (hint->nodes.value_or(self.nodes) != self.nodes) {
            throw Error(
                fmt::format("the launcher has started {} processes, but MPI knows of {}", *hint->nodes,
                            self.nodes),
                fmt::format("use the mpirun of {}, which this heddle was built with", native::mpi_version()));
        }
        return {self.rank, self.nodes, true, true};
    } catch (const Error& error) {
        throw error.at(where);
    }
}

void settle(configs::Experiment& experiment, const Part& part) {
    using configs::Backend;
    if (experiment.backend == Backend::sim && !has_simulation()) no_simulation(experiment.where("backend"));
    const bool single = experiment.schedule.modules == runtime::Modules::single;
    if (experiment.backend == Backend::inprocess && single) {
        throw Error("schedule.modules is single, which the backend inprocess does not have",
                    "leave it out, or state `backend: native` or `backend: sim`",
                    experiment.where("schedule.modules"));
    }
    refuse_single_by_mpi(experiment);
    check_sequences(experiment);
    refuse_protection_by_mpi(experiment);
    check_udp_segment(experiment);
    refuse_addresses_by_mpi(experiment);
    refuse_carriers_by_mpi(experiment);
    check_ports(experiment);
    refuse_members_by_mpi(experiment);
    if (experiment.backend != Backend::sim) {
        try {
            complete_networks(experiment.platform);
            if (experiment.platform.members_change()) complete_nodes(experiment.platform);
        } catch (const Error& error) {
            throw error.at(experiment.where("platform.networks"));
        }
    }
    // A platform file states its cores in simulation only.
    if (experiment.backend == Backend::inprocess && experiment.platform.cores == 0)
        experiment.platform.cores = 1;
    if (experiment.backend != Backend::native) {
        if (!part.launched) return;
        throw Error(fmt::format("`heddle launch` starts processes, but the backend is {}",
                                configs::name(experiment.backend)),
                    "leave launch out, or add --backend native", experiment.where("backend"));
    }
    Platform& platform = experiment.platform;
    if (platform.nodes != part.nodes && part.by_mpi) {
        throw Error(fmt::format("{} nodes need {} MPI ranks, and there {} {}", platform.nodes, platform.nodes,
                                part.nodes == 1 ? "is" : "are", part.nodes),
                    fmt::format("start them with: mpirun -n {} heddle run ...; or --set platform.nodes={}",
                                platform.nodes, part.nodes),
                    experiment.where("platform.nodes"));
    }
    if (platform.nodes != part.nodes) {
        throw Error(
            fmt::format("a native run on {} nodes has {} processes, and this is {}", platform.nodes,
                        platform.nodes, part.launched ? "another number" : "only one"),
            fmt::format("start them with: heddle launch -n {} -- heddle run ...; or --set platform.nodes=1; "
                        "or --backend sim",
                        platform.nodes_at_start == 0
                            ? std::to_string(platform.nodes)
                            : fmt::format("{} --capacity {}", platform.nodes_at_start, platform.nodes)),
            experiment.where("platform.nodes"));
    }
    check_members(experiment, part);
    if (platform.cores == 0) platform.cores = host::machine_cores();
}

std::unique_ptr<runtime::Backend> make_world(const configs::Experiment& experiment, unsigned sim_threads) {
    switch (experiment.backend) {
        case configs::Backend::native:
            return make_native(experiment, groups_of(experiment, experiment.platform.nodes));
        case configs::Backend::sim:
            return make_sim(experiment, sim_threads);
        case configs::Backend::inprocess:
            break;
    }
    return make_inprocess(experiment);
}

unsigned sim_threads_worth([[maybe_unused]] NodeId nodes) {
#if defined(__SANITIZE_THREAD__)
    return 1;  // fibers that go on in another thread are too much for it
#else
    // They meet every few microseconds, for which each should have some nodes to look at. More than two were
    // not measured.
    constexpr unsigned most = 8;
    return std::clamp(nodes / 4, 1U, std::min(host::machine_cores(), most));
#endif
}

std::vector<std::string> warnings_of([[maybe_unused]] const runtime::Backend& world) {
#ifdef HEDDLE_SIM
    if (const auto* simulated = dynamic_cast<const sim::SimBackend*>(&world)) return simulated->warnings();
#endif
    return {};
}

ClusterView cluster_view(const configs::Experiment& experiment, const runtime::Backend& world) {
    const runtime::Topology& topology = world.topology();
#ifdef HEDDLE_SIM
    if (const auto* simulated = dynamic_cast<const sim::SimBackend*>(&world)) {
        const Overheads& costs = experiment.platform.overheads;
        const Time sending = checked_sum(costs.message_enqueue, costs.message_send);
        return simulated->cluster(checked_sum(sending, costs.message_receive));
    }
#endif
    ClusterView cluster;
    const NodeId beginners = topology.at_start.value_or(topology.nodes);
    cluster.grid = {beginners, topology.cores};
    cluster.core_speed = experiment.platform.core_speed;
    cluster.message_seconds = to_seconds(topology.latency);
    cluster.seconds_per_byte = topology.bandwidth > 0 ? 1 / topology.bandwidth : 0;
    cluster.group = topology.group;
    cluster.group.resize(beginners);  // the others get no part of a placement
    cluster.nodes_here = 1;
    return cluster;
}

ClusterView cluster_view(const Platform& platform) {
    configs::Experiment experiment;
    experiment.platform = platform;
    experiment.backend = configs::Backend::sim;
    const std::shared_ptr<const runtime::Backend> world = make_world(experiment);
    ClusterView cluster = cluster_view(experiment, *world);
    // The routes are asked of the world, which lives as long as they do.
    const auto kept = std::make_shared<
        std::pair<std::shared_ptr<const runtime::Backend>, std::shared_ptr<const RouteTable>>>(
        world, cluster.routes);
    cluster.routes = std::shared_ptr<const RouteTable>(kept, kept->second.get());
    return cluster;
}

bool has_simulation() {
#ifdef HEDDLE_SIM
    return true;
#else
    return false;
#endif
}

double clock_error_seconds(const runtime::Backend& world) {
    const auto* native = dynamic_cast<const native::NativeBackend*>(&world);
    return native ? to_seconds(native->clock_error()) : 0;
}

std::vector<std::string> hosts_of(const runtime::Backend& world) {
    const auto* native = dynamic_cast<const native::NativeBackend*>(&world);
    return native ? native->hosts() : std::vector<std::string>{};
}

results::Versions versions() {
    results::Versions versions;
    versions.heddle = HEDDLE_VERSION;
    versions.simgrid = HEDDLE_SIMGRID_VERSION;
#if defined(__clang__)
    versions.compiler = fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    versions.compiler = fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    // `METIS 5.1.0`: the name is the column's.
    const auto library = [](const char* partitioner) {
        const std::string text = partitioners::make_graph_partitioner(partitioner)->library();
        return text.substr(text.find(' ') + 1);
    };
    versions.metis = library("metis");
    versions.scotch = library("scotch");
    return versions;
}

}  // namespace heddle::cli
