// The messages of a simulated node: its sender and receiver modules, the time that these take from cores, and
// the handlers, which run in the receiver's context.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "sim/node.hpp"

namespace heddle::sim {

using runtime::Context;

namespace {

MessageNote note_of(const Message& message) {
    return {message.from, message.to, message.sequence, message.size()};
}

}  // namespace

// --- the sender module
// ----------------------------------------------------------------------------------------------------

void SimNode::send(Context& caller, NodeId to, runtime::Bytes bytes, runtime::Enclosure enclosure) {
    caller.charge(world_.costs.message_enqueue);
    const Time cost = world_.costs.sending(bytes.size() + enclosure.size());
    sender_free_ = pace_.after(std::max(sender_free_, caller.clock), cost);
    if (!world_.single_module) take_from_core(cost);
    Message& message = lane_.mailroom.take();
    message.bytes = std::move(bytes);
    message.encloses = enclosure.size() > 0 || enclosure.body;
    if (message.encloses) message.enclosure = std::move(enclosure);
    message.from = settings_.id;
    message.to = to;
    message.sequence = messages_sent_++;
    message.time = sender_free_;
    if (sender_free_ == never) return;  // the node stops before it could be sent
    leaving_.push_back(&message);
    if (caller.recorder) caller.recorder->sending(note_of(message), sender_free_ - cost, sender_free_);
    // After it has been put down: the window in which it departs may not be the one in which the caller goes
    // on.
    if (world_.single_module) caller.charge(sender_free_ - caller.clock);
}

void SimNode::hand_over() {
    for (Message* message : leaving_) world_.network.send(message->time, *message);
    leaving_.clear();
}

// --- the receiver module
// --------------------------------------------------------------------------------------

void SimNode::arrive(Message* messages) {
    for (Message* message = messages; message;) {
        Message* const next = std::exchange(message->next, nullptr);
        HEDDLE_ASSERT(message->time >= window_end_);
        events_.push({message->time, EventKind::arrival, message->from, message->sequence, message});
        message = next;
    }
}

void SimNode::receive(Message& message, Time now) {
    if (received_) {
        last_received_->next = &message;
        last_received_ = &message;
        return;
    }
    received_ = last_received_ = &message;
    if (world_.single_module && finished_ != settings_.cores) {
        wake_to_poll(now);
    } else {
        receive_next(now);  // with a single module: only after all workers have left
    }
}

/// A parked worker of a node without modules looks for messages all the time: it sees them when they come.
void SimNode::wake_to_poll(Time now) {
    for (SimWorker& worker : workers_) {
        if (!worker.parked) continue;
        worker.parked = false;
        worker.waking = true;
        --idle_;
        return push(pace_.at(now), EventKind::resume, &worker);
    }
}

bool SimNode::poll(SimWorker& worker) {
    bool any = false;
    Context& context = *worker.context;
    while (received_ && !lane_.switchboard.abandoning()) {
        Message& message = *std::exchange(received_, received_->next);
        any = true;
        if (Recorder* recorder = context.recorder) recorder->receiving(note_of(message), context.clock);
        context.charge(world_.costs.receiving(message.size()));
        hand_to_program(message, context.clock);
        const Time cost = receiver_.context->clock - context.clock;
        // A worker that the handler has woken acts before this one goes on beyond that time.
        context.horizon = std::min(context.horizon, events_.next_time());
        if (cost > Time::zero()) context.charge(cost);
    }
    return any;
}

/// The receiver module takes up what waits for it: the first message, and those after it for as long as that
/// takes no time.
void SimNode::receive_next(Time now) {
    while (received_) {
        const Time begin = std::max(now, receiver_.context->clock);
        const Time cost = world_.costs.receiving(received_->size());
        take_from_core(cost);
        if (Recorder* recorder = receiver_.context->recorder) recorder->receiving(note_of(*received_), begin);
        const Time end = pace_.after(begin, cost);
        if (end > now) return push(end, EventKind::delivery, nullptr);
        deliver(now);
    }
}

void SimNode::deliver(Time now) {
    Message& message = *received_;
    const bool all_busy = idle_ == 0;  // before the handler wakes a worker
    Message* const next = message.next;
    hand_to_program(message, now);
    Context& receiver = *receiver_.context;
    if (all_busy) take_from_core(receiver.clock - now);
    receiver.clock = pace_.after(now, receiver.clock - now);
    received_ = next;
}

/// Runs the message's handlers in the receiver's context, from `now` on.
void SimNode::hand_to_program(Message& message, Time now) {
    Recorder* const recorder = receiver_.context->recorder;
    const MessageNote note = recorder ? note_of(message) : MessageNote{};  // its body is given away
    Context& receiver = *receiver_.context;
    receiver.clock = now;
    receiver.horizon = never;  // a handler runs in one go
    runtime::Body body;
    if (message.encloses) body = std::move(message.enclosure.body);
    // The sender may keep its own, and be at work in another thread.
    if (body) body = std::make_shared<runtime::Bytes>(*body);
    program_->deliver(message.from, message.bytes, std::move(body));
    if (recorder) recorder->delivered(note, receiver.clock);
    lane_.mailroom.give_back(message);
}

/// The module that works on a message needs a core. Where all are busy it takes one from a worker, from each
/// in turn, whose present or next work then takes longer.
void SimNode::take_from_core(Time cost) {
    if (idle_ > 0 || !world_.messages_compete || cost == Time::zero()) return;
    SimWorker& worker = workers_[next_taken_];
    worker.debt = checked_sum(worker.debt, cost);
    worker.context->horizon = Time::zero();  // it pays at its next operation, wherever the window ends
    next_taken_ = (next_taken_ + 1) % settings_.cores;
}

}  // namespace heddle::sim
