// Simulates sender modules that aggregate. A sender takes the longest sequence of messages to one node and
// sends it as one message, with one start-up. So the busier the network is, the more messages travel together
// (Gautier, Besseron, Pigeon 2007, section 3.6).
#include <algorithm>
#include <utility>
#include <vector>

#include "sim/machine.hpp"

namespace heddle::sim {

using runtime::Context;

namespace {

/// Whether `message` may travel at the end of `sequence`. What a message encloses belongs to the last record.
bool goes_with(const Message& sequence, const Message& message) {
    return !sequence.encloses && sequence.in_turn == message.in_turn;
}

void append(Message& sequence, Message& message) {
    sequence.bytes.insert(sequence.bytes.end(), message.bytes.begin(), message.bytes.end());
    if (!message.encloses) return;
    sequence.encloses = true;
    sequence.enclosure = std::move(message.enclosure);
}

/// The node with the most messages among those posted until `now`; of equals the one whose first message
/// waits longest.
NodeId longest(const Sender& sender, Time now) {
    std::vector<std::pair<NodeId, std::uint32_t>> nodes;
    for (const Message* message : sender.waiting)
        if (message->time <= now) nodes.emplace_back(message->to, static_cast<std::uint32_t>(nodes.size()));
    std::ranges::sort(nodes);
    NodeId found = nodes.front().first;
    std::size_t most = 0;
    std::uint32_t oldest = 0;
    for (std::size_t begin = 0, end = 0; begin != nodes.size(); begin = end) {
        while (end != nodes.size() && nodes[end].first == nodes[begin].first) ++end;
        const auto [node, first] = nodes[begin];
        if (end - begin < most || (end - begin == most && first > oldest)) continue;
        most = end - begin;
        found = node;
        oldest = first;
    }
    return found;
}

}  // namespace

/// A handler runs in one go: it may post for a time that has not come.
void SimMachine::post_to_sender(Context& caller, SimNode& node, Message& message) {
    if (node.senders.empty()) node.senders.resize(world_.network.count());
    Sender& sender = node.senders[message.network];
    message.time = caller.clock;
    sender.waiting.push_back(&message);
    const Time begin = node.pace.after(std::max(sender.free, caller.clock), Time::zero());
    if (begin == never) {  // the node stops before it could be sent
        node.sender_free = never;
        return;
    }
    hold_back(caller, begin);
    if (begin >= sender.due) return;
    sender.due = begin;
    push(begin, EventKind::sending, node.id, &sender);
}

/// Invariant: while messages wait, `due` is the time of an event, and no later than when the module is free
/// and the first of them is posted. An event of another time came before that was known, and is void.
void SimMachine::send_sequence(SimNode& node, Sender& sender, Time now) {
    if (sender.due != now) return;
    sender.due = never;
    const NodeId to = longest(sender, now);
    Message* sequence = nullptr;
    bool open = true;
    Time next = never;
    std::erase_if(sender.waiting, [&](Message* message) {
        const bool taken = open && message->to == to && message->time <= now &&
                           (!sequence || goes_with(*sequence, *message));
        if (!taken) {
            if (sequence && message->to == to) open = false;  // it may not be overtaken
            next = std::min(next, message->time);
        } else if (!sequence) {
            sequence = message;
        } else {
            append(*sequence, *message);
            lane_.mailroom.give_back(*message);
        }
        return taken;
    });
    const Time cost = world_.costs.sending(sequence->size());
    sender.free = node.sender_free = node.pace.after(now, cost);
    take_from_core(node, cost);
    if (sender.free == never) return;  // the node stops before they could be sent
    sequence->time = sender.free;
    sequence->sequence = node.messages_sent++;
    if (Recorder* recorder = node.receiver->context->recorder)
        recorder->sending({sequence->from, sequence->to, sequence->sequence, sequence->size()},
                          sender.free - cost, sender.free);
    if (in_order_) {
        leaving_.push_back(sequence);
    } else {
        put_on_way(*sequence);
    }
    if (sender.waiting.empty()) return;
    sender.due = node.pace.after(std::max(sender.free, next), Time::zero());
    if (sender.due == never) {
        node.sender_free = never;
        return;
    }
    push(sender.due, EventKind::sending, node.id, &sender);
}

}  // namespace heddle::sim
