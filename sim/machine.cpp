// Runs the events of one simulated machine up to a time: messages arrive, workers resume, park and compute.
#include "sim/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "base/work_done.hpp"

namespace heddle::sim {

using runtime::Context;
namespace context = boost::context;

SimMachine::SimMachine(World& world, const MachineSettings& settings, std::vector<Pace> paces)
    : world_(world),
      lane_(world.lane_of(world.cards.machine(settings.first))),
      in_order_(paces.size() == 1 && !world.workers_send &&
                !(world.sends_sequences && world.network.count() > 1)),
      settings_(settings),
      workers_(paces.size() * (settings.cores + std::size_t{1})),
      memory_(settings.memory_bandwidth, settings.core_memory_bandwidth) {
    nodes_.reserve(paces.size());
    for (std::size_t place = 0; place < paces.size(); ++place) {
        const std::span own = std::span(workers_).subspan(place * (settings.cores + 1), settings.cores + 1);
        nodes_.emplace_back(*this, settings.first + static_cast<NodeId>(place), own.first(settings.cores),
                            own.back(), std::move(paces[place]));
    }
    stops_ = nodes_.front().pace.stops();
}

void SimMachine::start(NodeId place, runtime::Backend& backend, runtime::NodeProgram& program, Stacks& stacks,
                       const Presence& presence) {
    SimNode& node = nodes_[place];
    node.program = &program;
    if (place == 0) first_program_ = &program;
    for (CoreId core = 0; core <= settings_.cores; ++core) {
        SimWorker& worker = core < settings_.cores ? node.workers[core] : *node.receiver;
        worker.node = &node;
        worker.context = &program.context(core);
        worker.context->backend = &backend;
        worker.context->id = {node.id, core};
        worker.context->costs = &world_.costs;
        worker.context->backend_part = &worker;
        worker.context->fiber_notes.follow(worker.notes);
    }
    node.stacks = &stacks;
    if (presence.begin != never) begin_node(node, presence.begin);
    if (presence.leave != never) push(presence.leave, EventKind::leave, node.id, &node);
    if (place + 1 != nodes_.size()) return;
    for (const Pace::Stop& stop : stops_) push(stop.begin, EventKind::stop, settings_.first, nullptr);
}

void SimMachine::abandon() {
    for (SimNode& node : nodes_) {
        for (SimWorker& worker : node.workers) lane_.switchboard.abandon(worker);
    }
}

SimMachine::Waiting SimMachine::parked_for_ever() const {
    Waiting waiting;
    for (const SimNode& node : nodes_) {
        const auto parked = std::ranges::count_if(node.workers, &SimWorker::parked);
        waiting.workers += static_cast<std::uint64_t>(parked);
        waiting.nodes += parked > 0 ? 1 : 0;
    }
    return waiting;
}

// --- the loop
// -------------------------------------------------------------------------------------------------

namespace {

/// Fetches `lines` lines of 64 bytes.
void fetch(const void* memory, int lines) {
    const char* at = static_cast<const char*>(memory);
    for (int i = 0; i < lines; ++i) __builtin_prefetch(at + std::ptrdiff_t{64} * i, 1);
}

}  // namespace

// Of a thousand machines little is left in the cache from one window to the next, and what a machine needs
// lies behind pointers: one after the other, these misses would take longer than the events. The numbers of
// lines were found by trying.
void SimMachine::prefetch_object() const {
    fetch(this, 4);
}

void SimMachine::prefetch_lists(const Message* inbox) const {
    if (inbox) fetch(inbox, 1);
    fetch(events_.memory(), 6);
    fetch(nodes_.data(), 2);
    fetch(first_program_, 10);
}

void SimMachine::prefetch_subjects() const {
    for (const Event& event : events_.first(5)) fetch(event.subject, 1);
}

void SimMachine::prefetch() const {
    for (const Event& event : events_.first(5)) {
        if (event.kind() == EventKind::arrival) {
            const Message& message = *static_cast<const Message*>(event.subject);
            fetch(message.bytes.data(), 1);
            const auto* const receiver = static_cast<const char*>(receiver_of(message));
            fetch(receiver - 64, 2);
            fetch(receiver + sizeof(Context), 3);
            continue;
        }
        if (event.kind() != EventKind::resume && event.kind() != EventKind::deadline) continue;
        const SimWorker& worker = *static_cast<const SimWorker*>(event.subject);
        fetch(worker.context, 6);
        fetch(static_cast<const char*>(worker.stack_top) - 128, 12);
        // The task below the latest one as well: it may be popped next.
        if (worker.hot) fetch(static_cast<const char*>(worker.hot) - 64, 4);
    }
}

// What a handler throws is kept with the lane, as what a worker throws is: the lane may be at another thread
// than the simulation.
void SimMachine::run_until(Time end) {
    window_end_ = end;
    try {
        while (events_.next_time() < end && !lane_.switchboard.failure) handle(events_.pop());
    } catch (...) {
        lane_.switchboard.failure = std::current_exception();
    }
}

void SimMachine::handle(const Event& event) {
    if (event.kind() != EventKind::resume) last_ = nullptr;
    switch (event.kind()) {
        case EventKind::stop:
            stop(event.time);
            break;
        case EventKind::arrival:
            receive(*static_cast<Message*>(event.subject), event.time);
            check_return(event.time);
            break;
        case EventKind::delivery: {
            SimNode& node = *static_cast<SimNode*>(event.subject);
            deliver(node, event.time);
            receive_next(node, event.time);
            break;
        }
        case EventKind::nap:
            look_after_nap(*static_cast<SimNode*>(event.subject), event.time);
            break;
        case EventKind::cores:
            cores_served(event);
            break;
        case EventKind::leave:
            ask_to_leave(*static_cast<SimNode*>(event.subject), event.time);
            break;
        case EventKind::sending:
            send_sequence(node(event.source()), *static_cast<Sender*>(event.subject), event.time);
            break;
        case EventKind::departure:
            depart(*static_cast<Message*>(event.subject));
            break;
        case EventKind::memory:
            memory_served(event);
            break;
        case EventKind::disk:
            disk_served(event.time);
            break;
        case EventKind::resume:
            resume(*static_cast<SimWorker*>(event.subject), event.time);
            break;
        case EventKind::deadline: {
            SimWorker& worker = *static_cast<SimWorker*>(event.subject);
            // The upper half of an event's number says which of the worker's parks it belongs to.
            if (!worker.parked || worker.parks != static_cast<std::uint32_t>(event.sequence >> 32)) break;
            if (beyond_time(event.time)) refuse_moment();
            worker.parked = false;
            --worker.node->idle;
            resume(worker, event.time);
            break;
        }
    }
}

/// Lets a worker go on at `time`, or later if messages took time from its core.
void SimMachine::resume(SimWorker& worker, Time time) {
    if (worker.debt > Time::zero()) {
        push_resume(worker, pay(worker, time));
        return;
    }
    prepare(worker, time);
    lane_.switchboard.jump(lane_.switchboard.main(), worker);
}

void SimMachine::prepare(SimWorker& worker, Time time) {
    HEDDLE_ASSERT(time >= worker.context->clock);  // no clock goes back
    worker.waking = false;
    worker.context->clock = time;
    // If the same worker resumes, keep its counters, so that window ends change no result.
    if (std::exchange(last_, &worker) != &worker) {
        worker.since = time;
        worker.passed_over = 0;
    }
    worker.context->horizon = std::min(window_end_, events_.next_time());
}

// A worker that waits leaves its frames cold: what is inlined here are lines that need not be fetched again.

/// The worker waits for an event. Goes straight on to the next worker if it is a worker's turn.
[[gnu::always_inline]] inline void SimMachine::leave(SimWorker& worker) {
    if (lane_.switchboard.abandoning()) return;
    SimWorker& next = worker_is_next() ? prepared(events_.pop()) : lane_.switchboard.main();
    if (&next != &worker) lane_.switchboard.jump(worker, next);
}

SimWorker& SimMachine::prepared(const Event& resume) {
    SimWorker& worker = *static_cast<SimWorker*>(resume.subject);
    prepare(worker, resume.time);
    return worker;
}

/// Which worker goes on while `worker` waits until `time`: itself, another one, or the lane's main one, which
/// runs the window. No heap is sorted on the stack of a worker that waits.
[[gnu::noinline]] SimWorker& SimMachine::next_while(SimWorker& worker, Time time) {
    const Event own = event(time, EventKind::resume, worker.context->id.node, &worker);
    if (worker_is_next()) return prepared(events_.push_pop(own));
    events_.push(own);
    return worker_is_next() ? prepared(events_.pop()) : lane_.switchboard.main();
}

bool SimMachine::worker_is_next() const {
    if (events_.next_time() >= window_end_) return false;
    const Event& next = events_.top();
    return next.kind() == EventKind::resume &&
           static_cast<const SimWorker*>(next.subject)->debt == Time::zero();
}

/// What messages took from the worker's core, it lacks from `time` on. Returns until when.
[[gnu::noinline]] Time SimMachine::pay_debt(SimWorker& worker, Time time) {
    const Time end = worker.node->pace.after(time, std::exchange(worker.debt, Time::zero()));
    const Activity before = worker.context->enter(Activity::overhead, time);
    worker.context->enter(before, end);
    return end;
}

/// Lets other events happen until `time`, if there are any.
[[gnu::always_inline]] inline void SimMachine::wait_until(SimWorker& worker, Time time) {
    time = pay(worker, time);
    if (time < worker.context->horizon) {
        worker.context->clock = time;
        return;
    }
    if (lane_.switchboard.abandoning()) return;
    SimWorker& next = next_while(worker, time);
    if (&next != &worker) lane_.switchboard.jump(worker, next);
}

// --- the seam
// -------------------------------------------------------------------------------------------------

void SimMachine::pause(SimWorker& worker) {
    Switchboard& switchboard = lane_.switchboard;
    if (switchboard.abandoning()) return;
    // If operations cost nothing, another worker at this instant must not have a turn after each of them.
    constexpr std::uint8_t most = 64;
    if (worker.context->clock == worker.since && worker.debt == Time::zero() && ++worker.passed_over < most)
        return;
    cross_stop(worker);
    worker.context->clock = pay(worker, worker.context->clock);
    const Event own = event(worker.context->clock, EventKind::resume, worker.context->id.node, &worker);
    if (worker_is_next() && events_.top().before(own))
        return switchboard.jump(worker, prepared(events_.push_pop(own)));
    events_.push(own);
    switchboard.jump(worker, switchboard.main());
}

// Invariant: a park ends by an unpark or at its deadline, whatever the node receives meanwhile. If a thief
// began to search for each message that does not concern it, its requests would be messages that wake others.
void SimMachine::park(SimWorker& worker, Time deadline) {
    if (!world_.single_module) return rest(worker, deadline);
    const SimNode& node = *worker.node;
    do {
        worker.polls = false;
        rest(worker, deadline);
        if (!node.received || node.polled || lane_.switchboard.abandoning()) continue;
        worker.context->charge(world_.costs.poll);
        poll(worker);
    } while (worker.polls && !lane_.switchboard.abandoning());
}

void SimMachine::rest(SimWorker& worker, Time deadline) {
    if (worker.debt > Time::zero()) pause(worker);  // a debt is paid before the core is idle
    if (std::exchange(worker.permit, false)) return;
    // It came after the last look, and no other worker sees to it.
    if (world_.single_module && worker.node->received && !worker.node->polled) {
        worker.polls = true;
        return pause(worker);
    }
    if (deadline <= worker.context->clock && !beyond_time(deadline)) return pause(worker);
    if (lane_.switchboard.abandoning()) return;
    worker.parked = true;
    ++worker.parks;
    ++worker.node->idle;
    if (world_.receiver_sleeps && worker.node->rested != worker.context->clock)
        comes_to_rest(*worker.node, worker.context->clock);
    if (deadline != never) {
        const std::uint64_t number = std::uint64_t{worker.parks} << 32 | worker.context->id.core;
        // A deadline beyond the last moment matters only if nothing else wakes the worker.
        const Time wakes =
            beyond_time(deadline) ? never - Time(1) : worker.node->pace.after(deadline, Time::zero());
        events_.push({wakes, EventKind::deadline, worker.context->id.node, number, &worker});
    }
    leave(worker);
    worker.node->rested = worker.context->clock;
}

/// Messages that come are delivered by the receiver module, which tells this worker (end_receiving). That
/// another worker of the node has ended the wait no event tells: so this one looks now and then.
void SimMachine::receive(SimWorker& worker, Time deadline, const std::function<bool()>& done) {
    constexpr Time shortest_look = std::chrono::nanoseconds(100);
    if (std::exchange(worker.permit, false)) return;
    SimNode& node = *worker.node;
    const Time look = node.cores() > 1 ? std::max(world_.costs.wake_up, shortest_look) : never;
    worker.receives_until = &done;
    ++node.receiving;
    while (worker.receives_until && !done() && worker.context->clock < deadline &&
           !lane_.switchboard.abandoning())
        rest(worker, std::min(deadline, saturated_sum(worker.context->clock, look)));
    --node.receiving;
    if (!std::exchange(worker.receives_until, nullptr)) worker.permit = false;
}

void SimMachine::unpark(Context& caller, SimNode& node, CoreId core) {
    SimWorker& worker = node.workers[core];
    const bool receives = std::exchange(worker.receives_until, nullptr) != nullptr;
    if (!worker.parked) {
        // A worker that is waking will see what was written before this call.
        if (!worker.waking || worker.polls) worker.permit = true;
        return;
    }
    worker.parked = false;
    worker.waking = true;
    --node.idle;
    if (receives && !is_worker(caller)) {
        const Time time = node.pace.after(caller.clock, world_.costs.wake_up_receiving);
        push_resume(worker, time);
        return hold_back(caller, time);
    }
    Time cost = world_.costs.wake_up;
    // A parked worker's clock is the time at which it parked. It looks again and again, then it sleeps, in
    // the end deeply.
    const Time parked = caller.clock - worker.context->clock;
    bool sleeps = parked >= world_.looks;
    if (!is_worker(caller)) {
        cost = checked_sum(cost, world_.costs.wake_up_message);
        // A worker that rests receives itself, so it was awake, or was woken for the message.
        if (std::exchange(node.receiver_rests, false)) sleeps = false;
    }
    if (sleeps) cost = checked_sum(cost, world_.costs.wake_up_asleep);
    const bool sleeps_deeply = parked >= world_.costs.deep_sleep;
    if (sleeps_deeply) cost = checked_sum(cost, world_.costs.wake_up_deep);
    const Time time = node.pace.after(caller.clock, cost);
    push_resume(worker, time);
    hold_back(caller, time);
    if ((sleeps || sleeps_deeply) && world_.costs.unpark > Time::zero()) charge_waker(caller);
}

/// A worker pays at its next operation: it may hold a lock now, and must not pause.
void SimMachine::charge_waker(Context& caller) {
    if (!is_worker(caller)) return caller.charge(world_.costs.unpark);
    SimWorker& waker = *static_cast<SimWorker*>(caller.backend_part);
    waker.debt = checked_sum(waker.debt, world_.costs.unpark);
    caller.horizon = Time::zero();
}

/// Runs the code. Its flops then take as long as it has; of its bytes no more pass the memory than one core
/// moves in that time, because the others were in the cache.
runtime::Work SimMachine::measured(const runtime::Work& work, const std::function<void()>& code) const {
    const double before = world_.stopwatch();
    const double begin = world_.stopwatch();
    code();
    // Less what a look at the stopwatch takes.
    const double seconds = std::max(0.0, world_.stopwatch() - begin - (begin - before));
    double bandwidth = settings_.memory_bandwidth.front();
    if (settings_.core_memory_bandwidth > 0) bandwidth = std::min(bandwidth, settings_.core_memory_bandwidth);
    return {seconds * world_.core_speed, std::min(work.bytes, seconds * bandwidth), work.goes_on};
}

void SimMachine::compute(SimWorker& worker, const runtime::Work& work, const std::function<void()>& code) {
    if (code && world_.stopwatch && code.target<WorkDone>() == nullptr) [[unlikely]]
        return compute(worker, measured(work, code), {});
    if (code) code();
    if (lane_.switchboard.abandoning()) return;
    const Time clock = worker.context->clock;
    Pace& pace = worker.node->pace;
    const double factor = pace.drawn(work.goes_on, worker.noise);
    const double flops = work.flops * factor, bytes = work.bytes * factor;
    const CoreId core = worker.context->id.core;
    const struct Computing {
        explicit Computing(SimNode& of) : node(of) { ++node.computing; }
        ~Computing() { --node.computing; }
        SimNode& node;
    } computing(*worker.node);
    if (world_.receiver_polls) [[unlikely]] {
        const Time duration = pace.computing(core, clock, flops);
        if (duration > Time::zero()) return compute_on_shared_cores(worker, duration, bytes);
    }
    const Time flops_end = pace.computed(core, clock, flops);
    if (!(bytes > 0)) return wait_until(worker, flops_end);
    worker.flops_end = flops_end;
    worker.parts_left = 1;
    begin_stream(worker, bytes);
    leave(worker);
}

/// `duration`: what the flops take on a core alone, of the node's own time.
void SimMachine::compute_on_shared_cores(SimWorker& worker, Time duration, double bytes) {
    worker.flops_end = Time::zero();
    worker.parts_left = bytes > 0 ? 2 : 1;
    SimNode& node = *worker.node;
    node.cores_left.begin(node.pace.running(worker.context->clock), static_cast<double>(duration.count()),
                          &worker);
    begin_cores_round(node);
    if (bytes > 0) begin_stream(worker, bytes);
    leave(worker);
}

// --- stops
// -------------------------------------------------------------------------------------------------------

// A machine that has stopped is not held back: every time that is put into its heap is one at which it goes
// on. Only what a worker is charged is not known before. So each stop is an event as well: no worker runs
// past it without a pause.

/// The worker's clock has been charged past the next stop: the rest of the charge follows after it.
void SimMachine::cross_stop(SimWorker& worker) {
    if (stops_passed_ == stops_.size()) return;
    const Time stop = stops_[stops_passed_].begin;
    Time& clock = worker.context->clock;
    if (clock >= stop) clock = worker.node->pace.after(stop, clock - stop);
}

void SimMachine::stop(Time now) {
    ++stops_passed_;
    check_return(now);
}

/// Ends a run that cannot end by itself: other nodes may ask a node that has stopped for work for ever.
void SimMachine::refuse_endless_stop(Time now) {
    if (nodes_.front().pace.after(now, Time::zero()) != never || lane_.switchboard.failure) return;
    for (const SimNode& node : nodes_) {
        if (!node.begun) continue;  // it has no work
        const auto left =
            std::ranges::count_if(node.workers, [](const SimWorker& worker) { return !worker.finished; });
        const bool messages = node.sender_free == never || node.received;
        if (left == 0 && !messages) continue;
        const std::string what = left > 0 ? fmt::format("{} of its workers have not finished", left)
                                          : "there are messages that it has not sent or received";
        lane_.switchboard.failure =
            std::make_exception_ptr(Error(fmt::format("deadlock: node {} stopped for ever at {}, and {}",
                                                      node.id, print_time(stops_.back().begin), what),
                                          "let it return with another event, `stop: false`"));
        return;
    }
}

}  // namespace heddle::sim
