// Sets a simulation up: completes the platform, starts SimGrid's process, builds nodes; carries out the
// backend's operations in virtual time.
#include "sim/sim_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/stack_guard.hpp"
#include "memory/memory_view.hpp"
#include "sim/group_crossing.hpp"
#include "sim/hosts.hpp"
#include "sim/huge_pages.hpp"
#include "sim/machine.hpp"
#include "sim/networks.hpp"
#include "sim/simulation.hpp"
#include "sim/stacks.hpp"

namespace heddle::sim {

using runtime::Context;

namespace {

Platform completed(Platform platform) {
    complete(platform);
    return platform;
}

/// The mean speed factor of a node's cores, without noise, which is not known before the run.
double mean_factor(const Platform& platform, NodeId node) {
    if (platform.node_speeds.empty() && platform.core_speeds.empty()) return 1;
    double sum = 0;
    for (CoreId core = 0; core < platform.cores; ++core) sum += platform.speed_factor(node, core);
    return sum / platform.cores;
}

/// More lanes than threads, so that a thread that has done its share early finds another.
constexpr std::size_t lanes_per_thread = 4;

/// Of the heap, roughly: a worker's own, and its share of the node's messages.
constexpr std::size_t bytes_per_worker = 8U << 10;

SimWorker& worker_of(const Context& context) {
    return *static_cast<SimWorker*>(context.backend_part);
}

}  // namespace

struct SimBackend::State {
    State(const Platform& stated, const SimOptions& chosen)
        : platform(completed(stated)),
          options(chosen),
          networks(platform),
          notes(networks.simgrid().facts().notes) {
        networks.several() ? fill_in(platform) : fill_in(platform, networks.simgrid().facts(), notes);
        topology.nodes = platform.nodes;
        if (platform.members_change()) topology.at_start = platform.beginners();
        topology.cores = platform.cores;
        if (platform.sockets > 1) topology.near_cores = platform.cores / platform.sockets;
        topology.cache = platform.cache;
        for (NodeId node = 0; node < platform.nodes; ++node) topology.group.push_back(networks.group(node));
        topology.routes = networks.routes();
        const RouteMeans means = networks.means();
        topology.latency = means.latency;
        topology.bandwidth = means.bandwidth;
        topology.distances = networks.distances(topology.group, topology.latency);
        if (!networks.several())
            topology.crossing = crossing(networks.simgrid(), networks.cards(), topology.distances);
        topology.polled = options.single_module;
        topology.receives = platform.nodes > 1 && !options.single_module &&
                            platform.overheads.wake_up_receiving > Time::zero();
        // Passing is too short to matter where waking the receiver takes no time.
        topology.polled_in_passing = platform.nodes > 1 && platform.nodes <= platform.processes &&
                                     receiver_sleeps(platform.overheads, options);
        double speeds = 0;
        for (NodeId node = 0; node < platform.nodes; ++node)
            speeds += speed(node) * mean_factor(platform, node);
        topology.core_speed = speeds / platform.nodes;
    }

    void start_machine(runtime::Backend& backend, World& of_all, MachineId number,
                       const runtime::NodeFactory& make_node) {
        const NodeId first = number * platform.processes;
        std::vector<Pace> paces;
        for (NodeId id = first; id < first + platform.processes; ++id)
            paces.emplace_back(platform, id, speed(id), options.seed);
        const MachineSettings settings{first, platform.cores, platform.memory_bandwidth.by_streams(),
                                       platform.core_memory_bandwidth, platform.disk};
        SimMachine& machine = machines.emplace_back(of_all, settings, std::move(paces));
        for (NodeId place = 0; place < platform.processes; ++place) {
            runtime::NodeProgram& program = make_node(first + place);
            machine.start(place, backend, program, stacks_with(0), presence(first + place));
        }
    }

    SimMachine::Presence presence(NodeId node) {
        SimMachine::Presence presence;
        if (node >= platform.beginners()) presence.begin = never;
        for (const NodeEvent& event : platform.events) {
            if (!event.member || event.node != node) continue;
            (*event.member ? presence.begin : presence.leave) = event.at;
        }
        if (presence.begin == never) may_start.push_back(node);
        return presence;
    }

    Stacks& stacks_with(std::size_t beside_bytes) {
        if (!stacks)
            stacks.emplace(std::uint64_t{platform.nodes} * platform.cores, options.stack_bytes, beside_bytes);
        return *stacks;
    }

    double speed(NodeId node) const {
        const bool of_host = !platform.file.empty() && !platform.stated_core_speed;
        return of_host ? networks.simgrid().facts().hosts[networks.cards().card(node)].speed
                       : platform.core_speed;
    }

    Platform platform;
    SimOptions options;
    BuiltNetworks networks;
    std::vector<std::string> notes;
    runtime::Topology topology;

    // While it runs.
    std::deque<NodeId> may_start;  ///< nodes that begin when the program starts them
    std::optional<World> world;
    std::optional<Stacks> stacks;     ///< made with the first node, which says what is to lie beside them
    std::deque<SimMachine> machines;  // a deque: what is in it does not move
    std::atomic<std::int64_t> elapsed{0};  ///< picoseconds
};

SimBackend::SimBackend(const Platform& platform, const SimOptions& options)
    : state_(std::make_unique<State>(platform, options)) {}

SimBackend::~SimBackend() = default;

void SimBackend::use(std::shared_ptr<Crew> crew) {
    HEDDLE_ASSERT(!state_->world);
    state_->options.crew = std::move(crew);
}

const Platform& SimBackend::platform() const {
    return state_->platform;
}

const std::vector<std::string>& SimBackend::notes() const {
    return state_->notes;
}

std::vector<std::string> SimBackend::warnings() const {
    // Programs that steal make much of little: where they are off by 2% it is as small as this
    // (bench/sim_exact.py).
    constexpr double accepted = 0.0025;
    const double doubtful = state_->world ? state_->world->network.doubtful() : 0;
    if (doubtful <= accepted) return {};
    return {
        fmt::format("small messages met more load than the simulator calculates with, for up to {:.1f}% of "
                    "a node's time, and may have arrived too early; with "
                    "platform.network.contention=exact all messages share links in SimGrid, which is slower",
                    100 * doubtful)};
}

ClusterView SimBackend::cluster(Time per_message) const {
    const Platform& platform = state_->platform;
    ClusterView view;
    // Nodes that join later get no part of a placement.
    view.grid = {platform.beginners(), platform.cores};
    view.core_speed = platform.core_speed;
    view.group = state_->topology.group;
    view.group.resize(platform.beginners());
    for (NodeId node = 0; node < platform.beginners(); ++node) {
        const Pace pace(platform, node, state_->speed(node), 0);
        for (CoreId core = 0; core < platform.cores; ++core) view.speeds.push_back(pace.stated_speed(core));
    }
    const auto other = [&](double speed) { return speed != platform.core_speed; };
    if (std::none_of(view.speeds.begin(), view.speeds.end(), other)) view.speeds.clear();
    view.routes = std::make_shared<RouteTable>(state_->networks.table(per_message));
    const RouteTable::Mean mean = view.routes->mean();
    view.message_seconds = mean.latency;
    view.seconds_per_byte = mean.seconds_per_byte;
    return view;
}

const runtime::Topology& SimBackend::topology() const {
    return state_->topology;
}

void SimBackend::run(const runtime::NodeFactory& make_node) {
    State& state = *state_;
    HEDDLE_ASSERT(!state.world);  // a backend runs once
    const SignalStack signals;
    const Platform& platform = state.platform;
    Overheads costs = platform.overheads;
    Time& look = state.options.single_module ? costs.poll : costs.message_receive;
    const TimeSum looks = TimeSum(look) + TimeSum(costs.poll_peer) * (platform.nodes - 1);
    if (looks > TimeSum(last_moment)) refuse_moment();
    look = Time(static_cast<std::int64_t>(looks.count()));
    World& world =
        state.world.emplace(state.networks, platform, costs, state.options,
                            state.options.crew ? lanes_per_thread * state.options.crew->size() : 1);
    const HugeHeap heap(bytes_per_worker * platform.nodes * platform.cores);
    try {
        for (MachineId machine = 0; machine < platform.machines(); ++machine)
            state.start_machine(*this, world, machine, make_node);
        Simulation(world, state.machines, {state.options.reverse_nodes, state.options.plain_windows},
                   state.options.crew.get(), state.elapsed)
            .run();
    } catch (...) {
        for (SimMachine& machine : state.machines) machine.abandon();
        throw;
    }
}

Time SimBackend::now(const Context& context) const {
    return context.clock;
}

void SimBackend::pause(Context& context) {
    SimWorker& worker = worker_of(context);
    if (context.id.core < state_->topology.cores) return worker.node->machine->pause(worker);
    refuse_moment();  // a handler runs in one go: only time itself ends it
}

void SimBackend::park(Context& context, Time deadline) {
    SimWorker& worker = worker_of(context);
    worker.node->machine->park(worker, deadline);
}

void SimBackend::receive(Context& context, Time deadline, const std::function<bool()>& done) {
    SimWorker& worker = worker_of(context);
    worker.node->machine->receive(worker, deadline, done);
}

void SimBackend::unpark(Context& caller, CoreId core) {
    SimWorker& own = worker_of(caller);
    own.node->machine->unpark(caller, *own.node, core);
}

void SimBackend::compute(Context& context, const runtime::Work& work, const std::function<void()>& code) {
    SimWorker& worker = worker_of(context);
    worker.node->machine->compute(worker, work, code);
}

void SimBackend::io(Context& caller, double bytes, std::function<void()> code,
                    std::function<void(Context& context)> done) {
    code();
    worker_of(caller).node->machine->io(caller, bytes, std::move(done));
}

void SimBackend::send(Context& context, NodeId to, runtime::Bytes message, runtime::Enclosure enclosure,
                      runtime::Path path) {
    HEDDLE_ASSERT(to < state_->topology.nodes && to != context.id.node);
    worker_of(context).node->machine->send(context, to, std::move(message), std::move(enclosure), path);
}

std::span<std::byte> SimBackend::beside_stack(WorkerId worker, std::size_t bytes) {
    return state_->stacks_with(bytes).beside(std::uint64_t{worker.node} * state_->platform.cores +
                                             worker.core);
}

std::unique_ptr<runtime::MemoryView> SimBackend::make_view(NodeId node, const runtime::ViewOptions& options,
                                                           runtime::FaultHandler& handler) {
    const NodeId processes = state_->platform.processes;
    return memory::make_view(options, handler, [this, node, processes]() -> Context* {
        const std::size_t machine = node / processes;
        return machine < state_->machines.size() ? state_->machines[machine].running(node) : nullptr;
    });
}

runtime::Bytes SimBackend::buffer(Context& context) {
    return worker_of(context).node->machine->buffer();
}

bool SimBackend::poll(Context& context) {
    SimWorker& worker = worker_of(context);
    return worker.node->machine->poll(worker);
}

// Its first message makes a node begin. Only node 0 starts nodes, so no two threads are here.
void SimBackend::start_nodes(Context& caller, NodeId count) {
    HEDDLE_ASSERT(caller.id.node == 0);
    std::deque<NodeId>& may_start = state_->may_start;
    for (; count > 0 && !may_start.empty(); --count) {
        const NodeId node = may_start.front();
        may_start.pop_front();
        worker_of(caller).node->machine->start_node(caller, node);
    }
}

Time SimBackend::elapsed() const {
    return Time(state_->elapsed.load(std::memory_order_relaxed));
}

}  // namespace heddle::sim
