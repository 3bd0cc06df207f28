// Begins the nodes of a simulated machine: at the start, at the time of an event, or with the first message
// to them. It also asks nodes to leave.
#include <algorithm>
#include <utility>

#include "sim/machine.hpp"

namespace heddle::sim {

namespace context = boost::context;

/// The worker waits on a stack of its own for its first event.
void SimMachine::make_fiber(SimWorker& worker) {
    SimNode& node = *worker.node;
    Switchboard& switchboard = lane_.switchboard;
    const CoreId core = worker.context->id.core;
    const GivenStack stack{node.stacks->stack(std::uint64_t{node.id} * settings_.cores + core)};
    worker.fiber =
        context::fiber(std::allocator_arg, worker.notes.noted(stack),
                       [this, &switchboard, &worker, &node, core](context::fiber&& caller) {
                           switchboard.entered(worker, std::move(caller));
                           // Nothing but Boost's own unwinding may leave a fiber.
                           const auto guarded = [&](const auto& run) {
                               try {
                                   run();
                               } catch (const context::detail::forced_unwind&) {
                                   worker.notes.before_exit();
                                   throw;
                               } catch (...) {
                                   switchboard.failure = std::current_exception();
                               }
                           };
                           guarded([&] {
                               switchboard.jump(worker, switchboard.main());  // until its first event
                               node.program->work(core);
                           });
                           ++node.idle;
                           --lane_.workers_left;
                           const bool last = ++node.finished == node.cores();
                           if (last && world_.single_module && node.received && !switchboard.failure)
                               guarded([&] { receive_next(node, worker.context->clock); });
                           return switchboard.leave(worker);
                       });
    switchboard.jump(switchboard.main(), worker);
}

/// Before the run, or in the course of an event that is no worker's. Does nothing if the node has begun.
void SimMachine::begin_node(SimNode& node, Time time) {
    if (std::exchange(node.begun, true)) return;
    for (SimWorker& worker : node.workers) {
        make_fiber(worker);
        push_resume(worker, node.pace.after(time, Time::zero()));
    }
    lane_.workers_left += settings_.cores;
}

void SimMachine::start_node(runtime::Context& caller, NodeId to) {
    if (world_.network.count() == 1 || is_here(to)) return send(caller, to, {}, {}, {});
    caller.charge(world_.costs.message_enqueue);
    SimNode& sender = *static_cast<SimWorker*>(caller.backend_part)->node;
    const Time departure = sender.pace.after(caller.clock, world_.costs.sending(0));
    if (departure == never) return;  // the node stops before
    Message& message = lane_.mailroom.take();
    message.from = sender.id;
    message.to = to;
    message.network = no_network;
    message.sequence = sender.messages_sent++;
    message.time = departure;
    leaving_.push_back(&message);
}

void SimMachine::ask_to_leave(SimNode& node, Time now) {
    runtime::Context& receiver = *node.receiver->context;
    if (!node.begun) return;
    // The handlers of a message may take the receiver longer.
    if (receiver.clock > now) return push(receiver.clock, EventKind::leave, node.id, &node);
    receiver.clock = now;
    receiver.horizon = never;
    node.program->leave();
    receiver.clock = node.pace.after(now, receiver.clock - now);
}

// A worker's fiber is where it goes on, so it is empty while it runs.
runtime::Context* SimMachine::running(NodeId id) {
    SimNode& of = node(id);
    if (!of.begun) return nullptr;
    for (SimWorker& worker : of.workers)
        if (!worker.fiber && !worker.finished) return worker.context;
    return nullptr;
}

}  // namespace heddle::sim
