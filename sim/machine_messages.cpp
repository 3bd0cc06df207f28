// Simulates the messages of a machine's nodes: the sender and receiver modules, the time that they take from
// cores, and the shared memory between nodes. Handlers run in the receiver's context.
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

void SimMachine::send(Context& caller, NodeId to, runtime::Bytes&& bytes, runtime::Enclosure&& enclosure,
                      runtime::Path path) {
    caller.charge(world_.costs.message_enqueue);
    // A receiver in another process of the machine sleeps: the caller has the system wake it.
    const bool rouses = world_.receiver_sleeps && is_here(to) && !node(to).received &&
                        receiver_is_asleep(node(to), caller.clock);
    send_on(caller, to, std::move(bytes), std::move(enclosure), path);
    if (rouses) caller.charge(world_.costs.message_rouse);
}

void SimMachine::send_on(Context& caller, NodeId to, runtime::Bytes&& bytes, runtime::Enclosure&& enclosure,
                         runtime::Path path) {
    SimNode& sender = *static_cast<SimWorker*>(caller.backend_part)->node;
    Message& message = lane_.mailroom.take();
    message.bytes = std::move(bytes);
    message.encloses = enclosure.size() > 0 || enclosure.body;
    if (message.encloses) message.enclosure = {std::move(enclosure.body).owned(), enclosure.padding};
    message.from = sender.id;
    message.to = to;
    message.network = path.network;
    message.in_turn = path.in_turn;
    if (world_.sends_sequences) [[unlikely]]
        return post_to_sender(caller, sender, message);
    message.sequence = sender.messages_sent++;
    const Time cost = world_.costs.sending(message.size());
    if (world_.workers_send) [[unlikely]]
        return send_by_caller(caller, sender, message, cost);
    sender.sender_free = sender.pace.after(std::max(sender.sender_free, caller.clock), cost);
    if (!world_.single_module) take_from_core(sender, cost);
    message.time = sender.sender_free;
    if (sender.sender_free == never) return;  // the node stops before it could be sent
    if (in_order_) [[likely]] {
        leaving_.push_back(&message);
    } else {
        put_on_way(caller, message);
    }
    if (caller.recorder)
        caller.recorder->sending(note_of(message), sender.sender_free - cost, sender.sender_free);
    // After it has been put down: the window in which it departs may not be the one in which the caller goes
    // on.
    // A stop on the way is no part of what the worker does: it comes to it by itself (cross_stop).
    if (world_.single_module)
        caller.charge(sender.pace.running(sender.sender_free) - sender.pace.running(caller.clock));
}

/// The caller pays, while other workers send too. So departures are not in the order of the calls.
void SimMachine::send_by_caller(Context& caller, const SimNode& sender, Message& message, Time cost) {
    message.time = sender.pace.after(caller.clock, cost);
    if (message.time == never) return;  // the node stops before it could be sent
    if (caller.recorder) caller.recorder->sending(note_of(message), caller.clock, message.time);
    put_on_way(caller, message);
    caller.charge(cost);
}

// A card takes messages in the order of departure. If several nodes share it, or several workers of a node
// send at the same time, a message may be decided on long before another one that departs earlier. So it is
// held back until no worker can send one that departs earlier: a message that is sent from now on departs
// when the time that sending takes is over, or later. Messages between two nodes go the same way. If a node
// has a sender module, it sends them in order anyway.
void SimMachine::put_on_way(Context& caller, Message& message) {
    const bool stays = is_here(message.to);
    const Time next = put_on_way(message);
    // An answer may come as soon as that. Without an event of its own the caller would go on beyond.
    if (stays) hold_back(caller, next);
}

/// Returns the time of the message's next event.
Time SimMachine::put_on_way(Message& message) {
    const Time next = message.time - world_.costs.message_send;
    if (!is_here(message.to) || world_.workers_send) {
        push_message(next, EventKind::departure, message);
        return next;
    }
    pass_memory(message);
    return message.time;
}

void SimMachine::depart(Message& message) {
    if (is_here(message.to)) return pass_memory(message);
    leaving_.push_back(&message);
}

/// The message arrives at another node of the machine. It crosses no window until then: it is an event of the
/// machine's own heap.
void SimMachine::pass_memory(Message& message) {
    const SharedMemory& memory = world_.shared_memory;
    const Time transfer = from_seconds(static_cast<double>(message.size()) / memory.bandwidth);
    Time begin = message.time;
    if (world_.channels_busy) {
        std::vector<Time>& channels = node(message.from).channel_free;
        if (channels.empty()) channels.resize(nodes_.size());
        Time& free = channels[message.to - settings_.first];
        begin = std::max(begin, free);
        free = checked_sum(begin, transfer);
    }
    message.time = checked_sum(checked_sum(begin, transfer), memory.latency);
    message.next = nullptr;
    push_message(message.time, EventKind::arrival, message);
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
        // Without any lookahead the window was one instant, at which the message came too.
        HEDDLE_ASSERT(message->time >= window_end_ ||
                      (world_.network.instant() && message->time + Time(1) == window_end_));
        push_message(message->time, EventKind::arrival, *message);
        message = next;
    }
}

void SimMachine::receive(Message& message, Time now) {
    SimNode& receiver = node(message.to);
    if (!receiver.begun) [[unlikely]] {
        begin_node(receiver, now);
        return lane_.mailroom.give_back(message);
    }
    if (receiver.received) {
        receiver.last_received->next = &message;
        receiver.last_received = &message;
        return;
    }
    receiver.received = receiver.last_received = &message;
    if (world_.single_module && receiver.finished != receiver.cores()) {
        if (!receiver.polled) wake_to_poll(receiver, now);  // else the worker that polls sees it
    } else {
        // With a single module: only after all workers have left.
        if (!world_.receiver_sleeps || !leave_to_worker(receiver, now)) receive_next(receiver, now);
    }
}

/// A parked worker of a node without modules looks for messages all the time: it sees them when they come.
void SimMachine::wake_to_poll(SimNode& node, Time now) {
    for (SimWorker& worker : node.workers) {
        if (!worker.parked) continue;
        worker.parked = false;
        worker.waking = true;
        worker.polls = true;
        --node.idle;
        return push_resume(worker, node.pace.after(now, Time::zero()));
    }
}

/// One worker at a time: a small message that another took meanwhile would overtake the one in hand.
bool SimMachine::poll(SimWorker& worker) {
    bool any = false;
    Context& context = *worker.context;
    SimNode& node = *worker.node;
    if (!world_.single_module) {
        passes(worker);
        return false;
    }
    if (std::exchange(node.polled, true)) return false;
    const struct Polling {
        SimNode& of;
        ~Polling() { of.polled = false; }
    } polling{node};
    while (node.received && !lane_.switchboard.abandoning()) {
        Message& message = *std::exchange(node.received, node.received->next);
        any = true;
        if (Recorder* recorder = context.recorder) recorder->receiving(note_of(message), context.clock);
        context.charge(world_.costs.receiving(message.size()));
        hand_to_program(node, message, context.clock);
        const Time cost = node.receiver->context->clock - context.clock;
        if (cost > Time::zero()) context.charge(cost);
    }
    return any;
}

/// What of the message the receiver has read before all of it had come, if it begins with the rest at
/// `begin`: through shared memory it reads while the sender writes, as long as it has nothing else to do. On
/// a node's only core it does not read while the node's own sender writes.
Time SimMachine::received_before(const SimNode& receiver, const Message& message, Time begin) const {
    const Overheads& costs = world_.costs;
    if (!costs.receives_by_size() || !is_here(message.from)) return Time::zero();
    Time free_since = receiver.receiver->context->clock;
    if (receiver.cores() == 1 && world_.messages_compete)
        free_since = std::max(free_since, receiver.sender_free);
    if (begin <= free_since) return Time::zero();
    const std::uint64_t bytes = message.size();
    return std::min({costs.sending(bytes) - costs.message_send,
                     costs.receiving(bytes) - costs.message_receive, begin - free_since});
}

/// The receiver module takes up what waits for it: the first message, and those after it for as long as that
/// takes no time.
void SimMachine::receive_next(SimNode& node, Time now) {
    Context& receiver = *node.receiver->context;
    while (node.received) {
        const Message& message = *node.received;
        const Time cost = world_.costs.receiving(message.size());
        Time left = cost;
        Time begin = std::max(now, receiver.clock);
        if (world_.receiver_sleeps && receiver_is_asleep(node, now)) {
            begin = checked_sum(begin, wake_receiver(node, now));
        } else {
            left -= received_before(node, message, begin);
        }
        if (!world_.receiver_polls) take_from_core(node, cost);
        if (Recorder* recorder = receiver.recorder) recorder->receiving(note_of(message), begin);
        const Time end = node.pace.after(begin, left);
        if (end > now) return push(end, EventKind::delivery, node.id, &node);
        deliver(node, now);
    }
}

void SimMachine::deliver(SimNode& node, Time now) {
    Message& message = *node.received;
    const bool takes_core = node.idle == 0 && !world_.receiver_polls;  // before the handler wakes a worker
    Message* const next = message.next;
    hand_to_program(node, message, now);
    Context& receiver = *node.receiver->context;
    if (takes_core) take_from_core(node, receiver.clock - now);
    receiver.clock = node.pace.after(now, receiver.clock - now);
    node.received = next;
    if (node.receiving > 0) end_receiving(node, receiver.clock);
}

/// Workers that receive themselves go on if what they wait for has come.
void SimMachine::end_receiving(SimNode& node, Time now) {
    for (SimWorker& worker : node.workers) {
        if (!worker.receives_until || !worker.parked || !(*worker.receives_until)()) continue;
        worker.parked = false;
        worker.waking = true;
        --node.idle;
        push_resume(worker, node.pace.after(now, world_.costs.wake_up_receiving));
    }
}

/// Runs the message's handlers in the receiver's context, from `now` on.
void SimMachine::hand_to_program(SimNode& node, Message& message, Time now) {
    Context& receiver = *node.receiver->context;
    Recorder* const recorder = receiver.recorder;
    const MessageNote note = recorder ? note_of(message) : MessageNote{};  // its body is given away
    receiver.clock = now;
    receiver.horizon = never;  // a handler runs in one go
    node.receiver_rests = node.idle > 0;
    runtime::Body body;
    // The sender may keep its own, and be at work in another thread.
    if (message.encloses && message.enclosure.body) {
        const std::span<const std::byte> sent = *message.enclosure.body;
        body = std::make_shared<runtime::Bytes>(sent.begin(), sent.end());
        message.enclosure.body.reset();
    }
    node.program->deliver(message.from, message.bytes, std::move(body));
    node.receiver_rests = false;
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
