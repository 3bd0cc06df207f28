// The messages of a machine's nodes: their sender and receiver modules, the time that these take from cores,
// the memory that the nodes share, and the handlers, which run in the receiver's context.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "sim/machine.hpp"

namespace heddle::sim {

using runtime::Context;

namespace {

MessageNote note_of(const Message& message) {
    return {message.from, message.to, message.sequence, message.size()};
}

}  // namespace

// --- the sender module
// ----------------------------------------------------------------------------------------------------

void SimMachine::send(Context& caller, NodeId to, runtime::Bytes bytes, runtime::Enclosure enclosure) {
    SimNode& sender = *static_cast<SimWorker*>(caller.backend_part)->node;
    caller.charge(world_.costs.message_enqueue);
    const Time cost = world_.costs.sending(bytes.size() + enclosure.size());
    sender.sender_free = sender.pace.after(std::max(sender.sender_free, caller.clock), cost);
    if (!world_.single_module) take_from_core(sender, cost);
    Message& message = lane_.mailroom.take();
    message.bytes = std::move(bytes);
    message.encloses = enclosure.size() > 0 || enclosure.body;
    if (message.encloses) message.enclosure = std::move(enclosure);
    message.from = sender.id;
    message.to = to;
    message.sequence = sender.messages_sent++;
    message.time = sender.sender_free;
    if (sender.sender_free == never) return;  // the node stops before it could be sent
    if (one_node_) [[likely]] {
        leaving_.push_back(&message);
    } else {
        put_on_way(caller, sender, message);
    }
    if (caller.recorder)
        caller.recorder->sending(note_of(message), sender.sender_free - cost, sender.sender_free);
    // After it has been put down: the window in which it departs may not be the one in which the caller goes
    // on.
    if (world_.single_module) caller.charge(sender.sender_free - caller.clock);
}

// Nodes of a machine share a card, which takes messages in the order of departure. A node may decide on its
// messages long before they depart. So a machine of several nodes holds each back until no node can send one
// that departs earlier: nothing that is sent from now on departs before the time that sending takes is over.
void SimMachine::put_on_way(Context& caller, SimNode& sender, Message& message) {
    if (message.to - settings_.first >= nodes_.size()) {
        const Time known = message.time - world_.costs.message_send;
        return push_message(known, EventKind::departure, message);
    }
    message.time = passes_memory(sender, message);
    message.next = nullptr;
    push_message(message.time, EventKind::arrival, message);
    if (is_worker(caller)) caller.horizon = std::min(caller.horizon, message.time);
}

/// When a message to another node of the machine arrives. Until then it crosses no window: it is an event of
/// the machine's own heap.
Time SimMachine::passes_memory(SimNode& sender, const Message& message) {
    const SharedMemory& memory = world_.shared_memory;
    const Time transfer = from_seconds(static_cast<double>(message.size()) / memory.bandwidth);
    Time begin = message.time;
    if (world_.channels_busy) {
        if (sender.channel_free.empty()) sender.channel_free.resize(nodes_.size());
        Time& free = sender.channel_free[message.to - settings_.first];
        begin = std::max(begin, free);
        free = checked_sum(begin, transfer);
    }
    return checked_sum(checked_sum(begin, transfer), memory.latency);
}

void SimMachine::hand_over() {
    for (Message* message : leaving_) world_.network.send(message->time, *message);
    leaving_.clear();
}

// --- the receiver module
// --------------------------------------------------------------------------------------

void SimMachine::arrive(Message* messages) {
    for (Message* message = messages; message;) {
        Message* const next = std::exchange(message->next, nullptr);
        HEDDLE_ASSERT(message->time >= window_end_);
        push_message(message->time, EventKind::arrival, *message);
        message = next;
    }
}

void SimMachine::receive(Message& message, Time now) {
    SimNode& receiver = node(message.to);
    if (receiver.received) {
        receiver.last_received->next = &message;
        receiver.last_received = &message;
        return;
    }
    receiver.received = receiver.last_received = &message;
    if (world_.single_module && receiver.finished != receiver.cores()) {
        wake_to_poll(receiver, now);
    } else {
        receive_next(receiver, now);  // with a single module: only after all workers have left
    }
}

/// A parked worker of a node without modules looks for messages all the time: it sees them when they come.
void SimMachine::wake_to_poll(SimNode& node, Time now) {
    for (SimWorker& worker : node.workers) {
        if (!worker.parked) continue;
        worker.parked = false;
        worker.waking = true;
        --node.idle;
        return push_resume(worker, node.pace.at(now));
    }
}

bool SimMachine::poll(SimWorker& worker) {
    bool any = false;
    Context& context = *worker.context;
    SimNode& node = *worker.node;
    while (node.received && !lane_.switchboard.abandoning()) {
        Message& message = *std::exchange(node.received, node.received->next);
        any = true;
        if (Recorder* recorder = context.recorder) recorder->receiving(note_of(message), context.clock);
        context.charge(world_.costs.receiving(message.size()));
        hand_to_program(node, message, context.clock);
        const Time cost = node.receiver->context->clock - context.clock;
        // A worker that the handler has woken acts before this one goes on beyond that time.
        context.horizon = std::min(context.horizon, events_.next_time());
        if (cost > Time::zero()) context.charge(cost);
    }
    return any;
}

/// The receiver module takes up what waits for it: the first message, and those after it for as long as that
/// takes no time.
void SimMachine::receive_next(SimNode& node, Time now) {
    Context& receiver = *node.receiver->context;
    while (node.received) {
        const Time begin = std::max(now, receiver.clock);
        const Time cost = world_.costs.receiving(node.received->size());
        take_from_core(node, cost);
        if (Recorder* recorder = receiver.recorder) recorder->receiving(note_of(*node.received), begin);
        const Time end = node.pace.after(begin, cost);
        if (end > now) return push(end, EventKind::delivery, node.id, &node);
        deliver(node, now);
    }
}

void SimMachine::deliver(SimNode& node, Time now) {
    Message& message = *node.received;
    const bool all_busy = node.idle == 0;  // before the handler wakes a worker
    Message* const next = message.next;
    hand_to_program(node, message, now);
    Context& receiver = *node.receiver->context;
    if (all_busy) take_from_core(node, receiver.clock - now);
    receiver.clock = node.pace.after(now, receiver.clock - now);
    node.received = next;
}

/// Runs the message's handlers in the receiver's context, from `now` on.
void SimMachine::hand_to_program(SimNode& node, Message& message, Time now) {
    Context& receiver = *node.receiver->context;
    Recorder* const recorder = receiver.recorder;
    const MessageNote note = recorder ? note_of(message) : MessageNote{};  // its body is given away
    receiver.clock = now;
    receiver.horizon = never;  // a handler runs in one go
    runtime::Body body;
    if (message.encloses) body = std::move(message.enclosure.body);
    // The sender may keep its own, and be at work in another thread.
    if (body) body = std::make_shared<runtime::Bytes>(*body);
    node.program->deliver(message.from, message.bytes, std::move(body));
    if (recorder) recorder->delivered(note, receiver.clock);
    lane_.mailroom.give_back(message);
}

/// The module that works on a message needs a core of its node. If all are busy it takes one from a worker,
/// from each in turn, whose present or next work then takes longer. Other nodes of the machine keep their
/// cores.
void SimMachine::take_from_core(SimNode& node, Time cost) {
    if (node.idle > 0 || !world_.messages_compete || cost == Time::zero()) return;
    SimWorker& worker = node.workers[node.next_taken];
    worker.debt = checked_sum(worker.debt, cost);
    worker.context->horizon = Time::zero();  // it pays at its next operation, wherever the window ends
    node.next_taken = (node.next_taken + 1) % settings_.cores;
}

}  // namespace heddle::sim
