// Starts a thread for each worker, joins the nodes of the run, and carries out the backend's operations
// natively.
#include "runtime/native/native_backend.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/relax.hpp"
#include "host/cpu_quota.hpp"
#include "host/heap.hpp"
#include "host/machine.hpp"
#include "memory/memory_view.hpp"
#include "runtime/native/busy_work.hpp"
#include "runtime/native/mesh.hpp"
#include "runtime/native/mixed_transport.hpp"
#include "runtime/native/native_state.hpp"
#include "runtime/native/thread_priority.hpp"

namespace heddle::native {

using runtime::Bytes;
using runtime::Context;

namespace {

constexpr std::uint64_t padding_frame_bytes = 1U << 20;

/// A context keeps no more memory than this for its next message.
constexpr std::size_t spare_bytes_max = 4U << 10;

}  // namespace

NativeBackend::NativeBackend(NativeOptions options) : state_(std::make_unique<State>()) {
    State& state = *state_;
    // A thread that waits long for another one gives it the core.
    yield_core.store(give_core_away, std::memory_order_relaxed);
    host::keep_freed_memory();
    state.options = std::move(options);
    const NativeOptions& given = state.options;
    state.options.frame_bytes_max = largest_payload(given.protection, given.frame_bytes_max);
    if (given.cores == 0) throw Error("a node needs at least one worker", "set platform.cores to 1 or more");
    const Membership membership = given.membership.value_or(Membership{});
    if (given.single_module && given.mpi)
        throw Error("a node of a single module sends and receives by TCP, not by MPI",
                    "take separate modules, or TCP");
    if (membership.nodes == 0 || membership.rank >= membership.nodes)
        throw Error(fmt::format("there is no node {} among {}", membership.rank, membership.nodes));
    if (given.at_start && given.mpi)
        throw Error("nodes join and leave by TCP, not by MPI",
                    "start the processes with `heddle launch` and --set platform.transport=tcp");
    if (given.at_start && (*given.at_start == 0 || *given.at_start > membership.nodes))
        throw Error(fmt::format("{} nodes begin the run, of {}", *given.at_start, membership.nodes),
                    "at least node 0 does, and all at most");
    state.rank = membership.rank;
    state.topology.nodes = membership.nodes;
    state.topology.cores = given.cores;
    state.topology.at_start = given.at_start;
    state.topology.group = given.group;
    state.topology.group.resize(membership.nodes, 0);
    state.topology.distances = NodeDistances(state.topology.group, nullptr, given.latency);
    state.topology.routes = given.routes;
    state.topology.latency = given.latency;
    state.topology.bandwidth = given.bandwidth;
    state.topology.core_speed = given.core_speed;
    state.parkers = std::vector<Parker>(given.cores);
    state.of_contexts = std::vector<OfContext>(given.cores + std::size_t{1});

    // A worker has a core of its own only if there is one for each worker of the processes that share these
    // cores, and if the processor time that all processes of the machine may have is enough.
    const host::CoreShare share = membership.core_share();
    const std::uint64_t workers_here = std::uint64_t{share.count} * given.cores;
    const std::uint64_t workers_of_all = std::uint64_t{membership.local_count} * given.cores;
    const double quota = std::max(host::cpu_quota().value_or(1e6), 1.0);
    const bool fits = workers_here <= host::machine_cores() && static_cast<double>(workers_of_all) <= quota;
    state.bind = given.bind && fits;
    state.first_core = host::first_core_of(share.rank, share.count, given.cores, host::cores_by_memory());
    // With other nodes, the sender and the receiver, if there are any, need a core now and then.
    const bool alone = membership.nodes == 1 || given.single_module;
    state.own_cores = fits && (alone || workers_here < host::machine_cores());
    if (state.own_cores) state.spin = membership.nodes == 1 ? given.times.worker_alone : given.times.worker;
    // A worker that polls for messages has to do that while it waits.
    state.topology.own_cores = state.own_cores && !given.single_module;
    state.topology.gates_open = given.gate_open;
    state.topology.receives = membership.nodes > 1 && !given.single_module && !given.mpi;
    state.topology.polled = given.single_module && membership.nodes > 1;
    state.topology.polled_in_passing = state.topology.receives && !state.own_cores;
    state.topology.undeclared = Activity::working;
    state.topology.recorded_late = std::chrono::milliseconds(100);  // workers run at the same time
}

NativeBackend::~NativeBackend() = default;

// --- the life of a run

void NativeBackend::run(const runtime::NodeFactory& make_node) {
    State& state = *state_;
    HEDDLE_ASSERT(!state.program);
    prepare_busy_work();
    try {
        if (state.topology.nodes > 1) state.meet();
    } catch (const RunOver&) {
        return state.note_over();
    }
    state.program = &make_node(state.rank);
    for (CoreId core = 0; core <= state.topology.cores; ++core) {
        Context& context = state.program->context(core);
        context.backend = this;
        context.id = {state.rank, core};
        context.costs = &no_overheads;
        context.backend_part = &state.of_contexts[core];
    }
    state.start_threads();
    using Started = Coordination::Started;
    auto started = Started::begun;
    try {
        if (state.transport) {
            started = state.start_transport();
        } else {
            state.begin(Clock::now());
        }
    } catch (...) {
        state.release(true);
        state.join();
        state.end_transport();
        throw;
    }
    state.release(started != Started::begun);
    state.join();
    state.io.reset();  // before what its calls use is unwound
    if (state.changes) state.changes->stop();
    if (state.failure) std::rethrow_exception(state.failure);
    if (!state.transport) return;
    if (started == Started::over) state.transport->leave();
    const bool ended_well = started == Started::begun && state.end_well();
    state.end_transport();
    if (started == Started::over) return state.note_over();
    state.clock_error = state.coordination->clock_error();
    state.hosts = state.coordination->hosts();
    if (!ended_well) state.throw_lost();
}

/// Ends its threads, which may be delivering a late message: before what they use goes.
void NativeBackend::State::end_transport() {
    transport.reset();
    polled = nullptr;
    threaded = nullptr;
}

Coordination::Started NativeBackend::State::start_transport() {
    const std::vector<NodeId> connected = transport->connected();
    transport->start(
        {[this](NodeId from, std::span<const std::byte> message, runtime::Body body, std::uint64_t in_room) {
             if (!run_start.holds(from, message, body, in_room))
                 deliver(from, message, std::move(body), in_room);
         },
         [this](NodeId from, FrameKind kind, auto payload) {
             relay->take(from, kind, payload, [this](NodeId of, FrameKind what, auto content) {
                 coordination->handle(of, what, content);
             });
         },
         [this](NodeId node, const std::string& reason) { lose(node, reason); },
         [this](NodeId node) { coordination->gone(node); },
         [this](NodeId from, std::span<const std::byte> message, std::uint64_t bytes) {
             return room(from, message, bytes);
         }});
    const Coordination::Started started = coordination->start(connected);
    if (started == Coordination::Started::begun && options.at_start) begin_changes();
    return started;
}

std::vector<MeshNetwork> NativeBackend::State::mesh_networks() const {
    MeshNetwork as_stated;
    as_stated.address = options.address;
    as_stated.ports = options.ports;
    as_stated.from = options.from;
    as_stated.local = options.local;
    as_stated.udp = options.udp;
    std::vector<MeshNetwork> list;
    if (!options.routes) list.push_back(as_stated);
    for (NetworkId number = 0; options.routes && number < options.routes->networks().size(); ++number) {
        const JoinedNodes& joined = options.routes->networks()[number];
        MeshNetwork& network =
            list.emplace_back(options.networks.empty() ? as_stated : options.networks[number]);
        network.name = joined.name;
        network.members = joined.members;
    }
    for (MeshNetwork& network : list)
        if (network.udp) network.udp->ports = network.ports;
    return list;
}

/// A receiver that ran on the core of another node's worker would keep that from its work, and come late
/// itself.
std::vector<unsigned> NativeBackend::State::cores_of_threads() const {
    if (!bind) return {};
    const host::CoreShare share = options.membership->core_share();
    return host::cores_beside(share.rank, share.count, options.cores, host::cores_by_memory(),
                              host::machine_cores());
}

void NativeBackend::State::meet() {
    if (options.at_start)
        changes.emplace([this] { ask_to_leave(); }, [this](const StartRequest& asked) { request(asked); });
    const bool direct = rank == 0 || !options.routes || options.routes->joined(rank, 0);
    const NodeId towards_lead = direct ? 0 : options.routes->next(rank, 0).to;
    const MpiMeshOptions mpi{*options.membership, options.agreement, options.mpi.value_or(MpiOptions{}),
                             options.window,      own_cores,         cores_of_threads()};
    if (options.mpi && options.networks.empty()) {
        transport = std::make_unique<MpiMesh>(mpi);
    } else {
        MeshOptions mesh{*options.membership,
                         options.agreement,
                         mesh_networks(),
                         options.frame_bytes_max,
                         options.meeting_max.value_or(meeting_time(topology.nodes)),
                         options.receive,
                         options.times,
                         options.window,
                         [this] { return resting.load(std::memory_order_relaxed) != 0; },
                         options.protection,
                         options.at_start,
                         cores_of_threads(),
                         bind && !own_cores,
                         own_cores,
                         towards_lead};
        if (options.mpi) {
            transport = std::make_unique<MixedTransport>(mesh, mpi, options.routes);
        } else if (options.single_module) {
            // The thread that looks again and again is a worker that rests. Its core is free if no other
            // worker uses it.
            mesh.core_is_free = [this] { return own_cores; };
            auto made = std::make_unique<PolledMesh>(mesh);
            polled = made.get();
            transport = std::move(made);
        } else {
            auto made = std::make_unique<Mesh>(mesh);
            threaded = made.get();
            transport = std::move(made);
        }
    }
    Coordination::Attend attend;
    if (polled) attend = [this](const std::function<bool()>& done) { polled->wait_for_frames(done); };
    relay.emplace(rank, topology.nodes, options.routes, *transport);
    coordination = std::make_unique<Coordination>(
        rank, topology.nodes, options.at_start.value_or(topology.nodes), host::host_name(),
        [this](NodeId to, FrameKind kind, Bytes payload) { relay->post(to, kind, std::move(payload)); },
        [this] {
            // Delivered first: the difference may then only look too large, never too small.
            const std::uint64_t delivered_now = delivered.load(std::memory_order_seq_cst);
            std::uint64_t sent_now = 0;
            for (const OfContext& context : of_contexts)
                sent_now += context.sent.load(std::memory_order_seq_cst);
            return Counts{sent_now, delivered_now};
        },
        [this](Clock::time_point zero) { begin(zero); }, attend);
    coordination->tell_in_order(relay->farthest_first());
    coordination->tell_joined([this](NodeId node) { transport->has_joined(node); });
    coordination->reach_lead_by(towards_lead);
}

void NativeBackend::State::begin(Clock::time_point zero) {
    if (transport && options.at_start && rank >= *options.at_start) transport->begin();
    run_start.begin(zero,
                    [this](NodeId from, std::span<const std::byte> message, runtime::Body body,
                           std::uint64_t in_room) { deliver(from, message, std::move(body), in_room); });
}

void NativeBackend::State::deliver(NodeId from, std::span<const std::byte> message, runtime::Body body,
                                   std::uint64_t in_room) {
    if (Recorder* const recorder = program->context(topology.cores).recorder) [[unlikely]] {
        const std::uint64_t bytes = message.size() + (body ? body->size() : in_room);
        const MessageNote note{from, rank, bytes, bytes};
        const Time time = run_start.now();
        recorder->receiving(note, time);
        recorder->delivered(note, time);
    }
    try {
        program->deliver(from, message, std::move(body));
    } catch (const std::exception& error) {
        end_process(exit_code_failed,
                    fmt::format("node {}, a message from node {}: {}", rank, from, error.what()));
    }
    count_one(delivered);
}

runtime::NodeProgram::Room NativeBackend::State::room(NodeId from, std::span<const std::byte> message,
                                                      std::uint64_t bytes) {
    try {
        return program->room(from, message, bytes);
    } catch (const std::exception& error) {
        end_process(exit_code_failed,
                    fmt::format("node {}, a message from node {}: {}", rank, from, error.what()));
    }
}

void NativeBackend::State::lose(NodeId node, const std::string& reason) {
    const std::string text = fmt::format("node {} was lost ({})", node, reason);
    if (!options.on_lost) end_process(exit_code_lost, text + "; the run cannot go on");
    {
        const std::lock_guard lock(mutex);
        lost = text;
    }
    options.on_lost(node, reason);
    coordination->give_up();
}

void NativeBackend::State::throw_lost() {
    const std::lock_guard lock(mutex);
    throw Error(lost);
}

void NativeBackend::State::end_process(int code, const std::string& text) {
    const std::string line = "heddle: " + text + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    if (transport) transport->end_all(code);
    std::_Exit(code);
}

// --- what workers call

const runtime::Topology& NativeBackend::topology() const {
    return state_->topology;
}

namespace {

/// Null: a context of the threads that do I/O.
OfContext* part_of(const Context& context) {
    return static_cast<OfContext*>(context.backend_part);
}

}  // namespace

Time NativeBackend::now(const Context& context) const {
    const Time time = state_->run_start.now();
    if (OfContext* const last = part_of(context)) last->time.store(time.count(), std::memory_order_relaxed);
    return time;
}

Time NativeBackend::recent(const Context& context) const {
    const OfContext* const last = part_of(context);
    return last ? Time(last->time.load(std::memory_order_relaxed)) : now(context);
}

Time NativeBackend::about(const Context& context) const {
    return std::max(state_->run_start.coarse_now(), recent(context));
}

Time NativeBackend::elapsed() const {
    return state_->run_start.now();
}

Time NativeBackend::clock_error() const {
    return state_->clock_error;
}

std::vector<std::string> NativeBackend::hosts() const {
    return state_->hosts;
}

void NativeBackend::pause(Context&) {}

void NativeBackend::park(Context& context, Time deadline) {
    State& state = *state_;
    const Deadline until = state.run_start.deadline(deadline);
    Parker& parker = state.parkers[context.id.core];
    if (state.threaded) {
        // What it looks at anyway.
        const Clock::time_point from = state.run_start.clock_time(recent(context));
        state.resting.fetch_add(1, std::memory_order_relaxed);
        const Clock::time_point left = state.threaded->rest(parker, from, until, state.spin);
        state.resting.fetch_sub(1, std::memory_order_relaxed);
        part_of(context)->time.store(Time(left - state.run_start.zero()).count(), std::memory_order_relaxed);
        return;
    }
    if (state.polled) {
        state.polled->wait(context.id.core, until, [&] { return parker.take(); });
    } else if (!state.transport) {
        parker.park(until, state.spin);  // no receiver asks
    } else {
        state.resting.fetch_add(1, std::memory_order_relaxed);
        parker.park(until, state.spin);
        state.resting.fetch_sub(1, std::memory_order_relaxed);
    }
    (void)now(context);
}

void NativeBackend::receive(Context& context, Time deadline, const std::function<bool()>& done) {
    State& state = *state_;
    const Clock::time_point from = state.run_start.clock_time(recent(context));
    const Clock::time_point left = state.threaded->receive_until(
        state.parkers[context.id.core], from, state.run_start.deadline(deadline), state.spin, done);
    part_of(context)->time.store(Time(left - state.run_start.zero()).count(), std::memory_order_relaxed);
}

void NativeBackend::unpark(Context&, CoreId core) {
    HEDDLE_ASSERT(core < state_->topology.cores);
    const bool elsewhere = state_->parkers[core].unpark();
    if (elsewhere) state_->threaded->rouse();
    if (state_->polled) state_->polled->wake(core);
}

void NativeBackend::compute(Context&, const runtime::Work& work, const std::function<void()>& code) {
    if (code) return code();
    keep_busy(from_seconds(work.flops / state_->options.core_speed));
}

void NativeBackend::send(Context& context, NodeId to, Bytes message, runtime::Enclosure enclosure,
                         runtime::Path path) {
    State& state = *state_;
    const std::size_t largest = std::max(message.size(), enclosure.body->size());
    if (largest > state.options.frame_bytes_max)
        throw Error(fmt::format("a message of {} bytes is larger than the {} that may travel at once",
                                largest, state.options.frame_bytes_max),
                    "send it in parts, or raise the largest frame");
    // The receiver has the number after the workers'; only workers may wait.
    const auto sender = context.id.core < state.topology.cores ? Sender::worker : Sender::handler;
    for (std::uint64_t left = enclosure.padding; left > 0; left -= std::min(left, padding_frame_bytes))
        state.transport->pad(to, path.network, std::min(left, padding_frame_bytes), sender);
    count_one(part_of(context)->sent);
    if (Recorder* const recorder = context.recorder) [[unlikely]] {
        const std::uint64_t bytes = message.size() + enclosure.body->size();
        const Time time = state.run_start.now();
        recorder->sending({state.rank, to, bytes, bytes + enclosure.padding}, time, time);
    }
    state.transport->send(to, path.network, std::move(message), std::move(enclosure.body), sender);
    // It is still there where it was copied to the connection at once.
    // NOLINTNEXTLINE(bugprone-use-after-move)
    if (message.capacity() != 0 && message.capacity() <= spare_bytes_max)
        part_of(context)->spare = std::move(message);
}

Bytes NativeBackend::buffer(Context& context) {
    OfContext* const part = part_of(context);
    if (!part) return {};
    Bytes spare = std::move(part->spare);
    spare.clear();
    return spare;
}

std::unique_ptr<runtime::MemoryView> NativeBackend::make_view(NodeId node,
                                                              const runtime::ViewOptions& options,
                                                              runtime::FaultHandler& handler) {
    HEDDLE_ASSERT(node == state_->rank);
    return memory::make_view(options, handler, [state = state_.get()] { return state->running(); });
}

void NativeBackend::start_nodes(Context& /*caller*/, NodeId count) {
    if (state_->changes && count > 0) state_->changes->start({count, {}});
}

void NativeBackend::io(Context& caller, double /*bytes*/, std::function<void()> code,
                       std::function<void(Context& context)> done) {
    State& state = *state_;
    {
        const std::lock_guard lock(state.io_mutex);
        if (!state.io) state.io.emplace();
    }
    state.io->run([this, id = caller.id.node, code = std::move(code), done = std::move(done)] {
        code();
        Context context;
        context.backend = this;
        context.id = {id, state_->topology.cores};
        done(context);
    });
}

bool NativeBackend::poll(Context& context) {
    State& state = *state_;
    if (state.polled) {
        const bool delivered = state.polled->poll();
        if (delivered) (void)now(context);
        return delivered;
    }
    if (!state.topology.polled_in_passing) return false;
    return state.threaded->look_in_passing(state.run_start.clock_time(recent(context)));
}

}  // namespace heddle::native
