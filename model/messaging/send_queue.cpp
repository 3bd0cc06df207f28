// Sends the fragments of messages, and sends refused ones again.
#include "model/messaging/send_queue.hpp"

#include <algorithm>
#include <utility>

#include "runtime/comm/wire.hpp"

namespace heddle::messaging {

using runtime::SpinLock;

SendQueue::Outcome SendQueue::put(ProcessId to, FragmentHeader header, Block data,
                                  std::shared_ptr<Left> left) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    header.message = next_++;
    const std::uint64_t fragments = to == process_ ? 1 : settings_.fragments_of(header.size);
    Message& message =
        messages_
            .emplace(header.message,
                     Message{to, header, std::move(data), std::move(left), fragments, false, {}})
            .first->second;
    if (!local(message)) {
        for (std::uint32_t index = 0; index < fragments; ++index)
            fragments_.push_back({header.message, index});
    } else if (Destination& here = destinations_[to]; here.full) {
        wait_for_room(here, header.message, message, 0);
    } else {
        depart({header.message, 0}, message, outcome);
    }
    dispatch(outcome);
    return outcome;
}

SendQueue::Message& SendQueue::find(std::uint64_t message) {
    const auto found = messages_.find(message);
    if (found == messages_.end()) throw runtime::MalformedMessage("it is about no message that is under way");
    return found->second;
}

SendQueue::Outcome SendQueue::acknowledged(std::uint64_t message) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Message& sent = find(message);
    if (!local(sent)) ++buffers_free_;
    sent.accepted = true;
    if (!sent.waiting.empty()) send_again(destinations_[sent.to], message);
    if (--sent.missing == 0) {
        outcome.left = std::move(sent.left);
        messages_.erase(message);
    }
    dispatch(outcome);
    return outcome;
}

SendQueue::Outcome SendQueue::refused(std::uint64_t message, std::uint32_t index, bool has_room, Time now) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Message& sent = find(message);
    if (index >= (local(sent) ? 1 : settings_.fragments_of(sent.header.size)))
        throw runtime::MalformedMessage("its message has no such fragment");
    if (!local(sent)) ++buffers_free_;
    Destination& to = destinations_[sent.to];
    to.full = true;
    to.refused_at = now;
    ++to.refusals;
    wait_for_room(to, message, sent, index);
    // Otherwise the one before it is on its way, and the receiver tells when it has come.
    outcome.again = has_room && *to.waiting.begin() != message;
    if (sent.accepted) send_again(to, message);
    dispatch(outcome);
    return outcome;
}

void SendQueue::wait_for_room(Destination& to, std::uint64_t number, Message& message, std::uint32_t index) {
    message.waiting.push_back(index);
    to.waiting.insert(number);
}

Time SendQueue::retry_at(ProcessId to) const {
    const SpinLock::Guard guard(lock_);
    const auto found = destinations_.find(to);
    return found == destinations_.end() ? Time{} : found->second.refused_at + settings_.retry;
}

SendQueue::Outcome SendQueue::room(ProcessId to, const RoomMessage& message, bool& relieved,
                                   RelievedMessage& answer) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Destination& destination = destinations_[to];
    std::uint32_t blocks = message.blocks;
    for (; blocks > 0 && !destination.waiting.empty(); --blocks)
        send_again(destination, *destination.waiting.begin());
    relieved = destination.waiting.empty();
    if (relieved) {
        destination.full = false;
        answer = {destination.refusals, blocks};
    }
    dispatch(outcome);
    return outcome;
}

void SendQueue::send_again(Destination& to, std::uint64_t number) {
    for (const std::uint32_t index : std::exchange(find(number).waiting, {}))
        again_.push_back({number, index});
    to.waiting.erase(number);
}

/// Sends fragments while there are buffers for them.
void SendQueue::dispatch(Outcome& outcome) {
    for (; !again_.empty(); again_.pop_front()) {
        const Message& message = messages_.at(again_.front().message);
        if (!local(message) && buffers_free_ == 0) return;
        depart(again_.front(), message, outcome);
    }
    for (; buffers_free_ > 0 && !fragments_.empty(); fragments_.pop_front()) {
        const Fragment& next = fragments_.front();
        Message& message = messages_.at(next.message);
        if (Destination& to = destinations_[message.to]; to.full && !message.accepted) {
            wait_for_room(to, next.message, message, next.index);
        } else {
            depart(next, message, outcome);
        }
    }
}

void SendQueue::depart(const Fragment& fragment, const Message& message, Outcome& outcome) {
    if (!local(message)) --buffers_free_;
    ++sent_;
    FragmentHeader header = message.header;
    header.index = fragment.index;
    outcome.departures.push_back({message.to, header, message.data});
}

std::uint64_t SendQueue::fragments() const {
    const SpinLock::Guard guard(lock_);
    return sent_;
}

}  // namespace heddle::messaging
