// Starts a thread for each worker, joins the nodes of the run, and carries out the backend's operations
// natively.
#include "runtime/native/native_backend.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/relax.hpp"
#include "base/stack_guard.hpp"
#include "host/machine.hpp"
#include "runtime/native/busy_work.hpp"
#include "runtime/native/coordination.hpp"
#include "runtime/native/io_threads.hpp"
#include "runtime/native/mesh.hpp"
#include "runtime/native/parker.hpp"
#include "runtime/native/polled_mesh.hpp"
#include "runtime/native/run_start.hpp"

namespace heddle::native {

using runtime::Bytes;
using runtime::Context;

namespace {

/// How long workers that are ready spin until the others are, where they would otherwise wake up one by one.
constexpr std::chrono::milliseconds start_spin{2};

constexpr std::uint64_t padding_frame_bytes = 1U << 20;

}  // namespace

struct NativeBackend::State {
    NativeOptions options;
    NodeId rank = 0;
    runtime::Topology topology;
    std::vector<Parker> parkers;
    bool own_cores = false;  ///< each worker has a core to itself
    std::chrono::nanoseconds spin{};
    unsigned first_core = 0;
    bool bind = false;

    runtime::NodeProgram* program = nullptr;
    std::unique_ptr<Transport> transport;
    PolledMesh* polled = nullptr;  ///< the transport, where workers poll it
    std::unique_ptr<Coordination> coordination;
    std::mutex io_mutex;  ///< over making the next
    std::optional<IoThreads> io;
    std::atomic<std::uint32_t> resting{0};  ///< workers that park
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> delivered{0};

    RunStart run_start;
    Time clock_error{};  ///< Coordination::clock_error
    std::vector<std::string> hosts{host::host_name()};

    // Workers wait here for the start.
    std::mutex mutex;
    std::condition_variable changed;
    CoreId ready = 0;
    std::atomic<bool> released{false};
    bool cancelled = false;
    std::exception_ptr failure;
    std::string lost;

    struct Start {
        State* state;
        CoreId core;
    };
    std::vector<Start> starts;
    std::vector<pthread_t> threads;

    void begin(Clock::time_point zero);
    void meet();
    void start_threads();
    void release(bool cancel);
    bool await_release();
    void join();
    void work(CoreId core);
    void deliver(NodeId from, std::span<const std::byte> message, runtime::Body body);
    void lose(NodeId node, const std::string& reason);
    [[noreturn]] void throw_lost();
    [[noreturn]] void end_process(int code, const std::string& text);
};

NativeBackend::NativeBackend(NativeOptions options) : state_(std::make_unique<State>()) {
    State& state = *state_;
    // A thread that waits long for another one gives it the core.
    yield_core.store([] { std::this_thread::yield(); }, std::memory_order_relaxed);
    state.options = std::move(options);
    const NativeOptions& given = state.options;
    if (given.cores == 0) throw Error("a node needs at least one worker", "set platform.cores to 1 or more");
    const Membership membership = given.membership.value_or(Membership{});
    if (given.single_module && given.mpi)
        throw Error("a node of a single module sends and receives by TCP, not by MPI",
                    "take separate modules, or TCP");
    if (membership.nodes == 0 || membership.rank >= membership.nodes)
        throw Error(fmt::format("there is no node {} among {}", membership.rank, membership.nodes));
    state.rank = membership.rank;
    state.topology.nodes = membership.nodes;
    state.topology.cores = given.cores;
    state.topology.group = given.group;
    state.topology.group.resize(membership.nodes, 0);
    state.topology.distances = NodeDistances(state.topology.group, nullptr, given.latency);
    state.topology.routes = given.routes;
    state.topology.latency = given.latency;
    state.topology.bandwidth = given.bandwidth;
    state.topology.core_speed = given.core_speed;
    state.parkers = std::vector<Parker>(given.cores);

    // A worker has a core of its own only if this machine has one for each worker of the run on it.
    const std::uint64_t workers_here = std::uint64_t{membership.local_count} * given.cores;
    const bool fits = workers_here <= host::machine_cores();
    state.bind = given.bind && fits;
    state.first_core = host::first_core_of(membership.local_rank, membership.local_count, given.cores,
                                           host::cores_by_memory());
    // With other nodes, the sender and the receiver, if there are any, need a core now and then.
    const bool alone = membership.nodes == 1 || given.single_module;
    state.own_cores = fits && (alone || workers_here < host::machine_cores());
    if (state.own_cores) state.spin = membership.nodes == 1 ? given.times.worker_alone : given.times.worker;
    // A worker that polls for messages has to do that while it waits.
    state.topology.own_cores = state.own_cores && !given.single_module;
    state.topology.gates_open = given.gate_open;
    state.topology.polled = given.single_module && membership.nodes > 1;
    state.topology.undeclared = Activity::working;
    state.topology.recorded_late = std::chrono::milliseconds(100);  // workers run at the same time
}

NativeBackend::~NativeBackend() = default;

// --- the life of a run

void NativeBackend::run(const runtime::NodeFactory& make_node) {
    State& state = *state_;
    HEDDLE_ASSERT(!state.program);
    if (state.topology.nodes > 1) state.meet();
    state.program = &make_node(state.rank);
    for (CoreId core = 0; core <= state.topology.cores; ++core) {
        Context& context = state.program->context(core);
        context.backend = this;
        context.id = {state.rank, core};
        context.costs = &no_overheads;
    }
    state.start_threads();
    bool started = true;
    if (!state.transport) state.begin(Clock::now());
    if (state.transport) {
        state.transport->start(
            {[&state](NodeId from, std::span<const std::byte> message, runtime::Body body) {
                 if (!state.run_start.holds(from, message, body))
                     state.deliver(from, message, std::move(body));
             },
             [&state](NodeId from, FrameKind kind, auto payload) {
                 state.coordination->handle(from, kind, payload);
             },
             [&state](NodeId node, const std::string& reason) { state.lose(node, reason); }});
        started = state.coordination->start();
        state.clock_error = state.coordination->clock_error();
        state.hosts = state.coordination->hosts();
    }
    state.release(!started);
    state.join();
    state.io.reset();  // before what its calls use is unwound
    if (state.failure) std::rethrow_exception(state.failure);
    if (!state.transport) return;
    const bool ended_well = started && state.coordination->finish() && state.transport->part();
    state.polled = nullptr;
    state.transport.reset();
    if (!ended_well) state.throw_lost();
}

void NativeBackend::State::meet() {
    if (options.mpi) {
        transport = std::make_unique<MpiMesh>(
            MpiMeshOptions{*options.membership, options.agreement, *options.mpi, options.window, own_cores});
    } else {
        MeshOptions mesh{*options.membership,
                         options.agreement,
                         options.address,
                         options.frame_bytes_max,
                         options.meeting_max.value_or(meeting_time(topology.nodes)),
                         options.receive,
                         options.times,
                         options.window,
                         [this] { return resting.load(std::memory_order_relaxed) != 0; },
                         options.local,
                         options.protection,
                         options.ports,
                         options.from,
                         options.udp};
        if (mesh.udp) mesh.udp->ports = options.ports;
        if (options.single_module) {
            // The thread that looks again and again is a worker that rests. Its core is free if no other
            // worker uses it.
            mesh.core_is_free = [this] { return own_cores; };
            auto made = std::make_unique<PolledMesh>(mesh);
            polled = made.get();
            transport = std::move(made);
        } else {
            transport = std::make_unique<Mesh>(mesh);
        }
    }
    Coordination::Attend attend;
    if (polled) attend = [this](const std::function<bool()>& done) { polled->wait_for_frames(done); };
    coordination = std::make_unique<Coordination>(
        rank, topology.nodes, host::host_name(),
        [this](NodeId to, FrameKind kind, Bytes payload) {
            transport->post(to, kind, std::move(payload), {});
        },
        [this] {
            // Delivered first: the difference may then only look too large, never too small.
            const std::uint64_t delivered_now = delivered.load(std::memory_order_seq_cst);
            return Counts{sent.load(std::memory_order_seq_cst), delivered_now};
        },
        [this](Clock::time_point zero) { begin(zero); }, attend);
}

void NativeBackend::State::begin(Clock::time_point zero) {
    run_start.begin(zero, [this](NodeId from, std::span<const std::byte> message, runtime::Body body) {
        deliver(from, message, std::move(body));
    });
}

namespace {

constexpr std::size_t stack_guard_bytes = std::size_t{64} << 10;

/// The guard below the calling worker's own stack.
StackGuard::Stacks guard_of_this_thread(std::uint64_t stack_bytes, CoreId core) {
    StackGuard::Stacks stacks;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stacks;
    void* lowest = nullptr;
    std::size_t size = 0;
    std::size_t guard = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    stacks.begin = static_cast<const char*>(lowest) - guard;
    stacks.distance = stacks.guard = guard;
    stacks.count = 1;
    stacks.bytes = stack_bytes;
    stacks.owner = fmt::format("worker {}", core);
    return stacks;
}

}  // namespace

void NativeBackend::State::start_threads() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto least = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
    const std::size_t stack = (std::max(options.stack_bytes, least) + page - 1) / page * page;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstacksize(&attributes, stack);
    // Wider than a page: the frame that overflows may be larger than that.
    if (!error) error = pthread_attr_setguardsize(&attributes, stack_guard_bytes);
    starts.reserve(topology.cores);
    for (CoreId core = 0; core < topology.cores && !error; ++core) {
        starts.push_back({this, core});
        pthread_t thread{};
        error = pthread_create(
            &thread, &attributes,
            [](void* start) -> void* {
                static_cast<Start*>(start)->state->work(static_cast<Start*>(start)->core);
                return nullptr;
            },
            &starts.back());
        if (!error) threads.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
    if (!error) {
        std::unique_lock lock(mutex);
        return changed.wait(lock, [this] { return ready == topology.cores; });
    }
    release(true);
    join();
    throw Error(fmt::format("cannot start {} workers with stacks of {} bytes: {}", topology.cores, stack,
                            error_text(error)),
                "use fewer cores or smaller stacks");
}

void NativeBackend::State::release(bool cancel) {
    const std::lock_guard lock(mutex);
    cancelled = cancel;
    released.store(true, std::memory_order_release);
    changed.notify_all();
}

/// Where a worker waits until all are there and time begins. False: it does not.
bool NativeBackend::State::await_release() {
    {
        const std::lock_guard lock(mutex);
        if (++ready == topology.cores) changed.notify_all();
    }
    if (own_cores && topology.nodes == 1) {
        const auto end = Clock::now() + start_spin;
        while (!released.load(std::memory_order_acquire) && Clock::now() < end) std::this_thread::yield();
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return released.load(std::memory_order_relaxed); });
    return !cancelled;
}

void NativeBackend::State::join() {
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    threads.clear();
}

/// The life of one worker's thread.
void NativeBackend::State::work(CoreId core) {
    // A core that refuses costs speed only.
    if (bind) (void)host::bind_to_core(first_core + core);
    prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: parks with a deadline are often short
    const SignalStack signals;
    const StackGuard guard(guard_of_this_thread(options.stack_bytes, core));
    if (!await_release()) return;
    std::this_thread::sleep_until(run_start.zero());
    try {
        program->work(core);
    } catch (const std::exception& error) {
        // Other workers or nodes may wait for this worker for ever. If there are none, the caller gets the
        // error.
        if (topology.nodes > 1 || topology.cores > 1)
            end_process(exit_code_failed, fmt::format("node {}: {}", rank, error.what()));
        failure = std::current_exception();
    }
}

void NativeBackend::State::deliver(NodeId from, std::span<const std::byte> message, runtime::Body body) {
    if (Recorder* const recorder = program->context(topology.cores).recorder) [[unlikely]] {
        const std::uint64_t bytes = message.size() + (body ? body->size() : 0);
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
    delivered.fetch_add(1, std::memory_order_seq_cst);
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

Time NativeBackend::now(const Context&) const {
    return state_->run_start.now();
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
    // Rounded up, and never beyond what the steady clock can say.
    const auto until = deadline == never
                           ? Deadline::max()
                           : state.run_start.zero() + std::chrono::ceil<Clock::duration>(deadline);
    Parker& parker = state.parkers[context.id.core];
    if (state.polled) return state.polled->wait(context.id.core, until, [&] { return parker.take(); });
    if (!state.transport) return parker.park(until, state.spin);  // no receiver asks
    state.resting.fetch_add(1, std::memory_order_relaxed);
    parker.park(until, state.spin);
    state.resting.fetch_sub(1, std::memory_order_relaxed);
}

void NativeBackend::unpark(Context&, CoreId core) {
    HEDDLE_ASSERT(core < state_->topology.cores);
    state_->parkers[core].unpark();
    if (state_->polled) state_->polled->wake(core);
}

void NativeBackend::compute(Context&, runtime::Work work, const std::function<void()>& code) {
    if (code) return code();
    keep_busy(from_seconds(work.flops / state_->options.core_speed));
}

void NativeBackend::send(Context& context, NodeId to, Bytes message, runtime::Enclosure enclosure,
                         runtime::Path /*path*/) {
    State& state = *state_;
    const std::size_t largest = std::max(message.size(), enclosure.body ? enclosure.body->size() : 0);
    if (largest > state.options.frame_bytes_max)
        throw Error(fmt::format("a message of {} bytes is larger than the {} that may travel at once",
                                largest, state.options.frame_bytes_max),
                    "send it in parts, or raise the largest frame");
    // The receiver has the number after the workers'; only workers may wait.
    const auto sender = context.id.core < state.topology.cores ? Sender::worker : Sender::handler;
    for (std::uint64_t left = enclosure.padding; left > 0; left -= std::min(left, padding_frame_bytes))
        state.transport->pad(to, std::min(left, padding_frame_bytes), sender);
    state.sent.fetch_add(1, std::memory_order_seq_cst);
    if (Recorder* const recorder = context.recorder) [[unlikely]] {
        const std::uint64_t bytes = message.size() + (enclosure.body ? enclosure.body->size() : 0);
        const Time time = state.run_start.now();
        recorder->sending({state.rank, to, bytes, bytes + enclosure.padding}, time, time);
    }
    state.transport->send(to, std::move(message), std::move(enclosure.body), sender);
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

bool NativeBackend::poll(Context&) {
    return state_->polled && state_->polled->poll();
}

}  // namespace heddle::native
