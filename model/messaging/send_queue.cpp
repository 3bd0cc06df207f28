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
    Message& message = messages_
                           .emplace(header.message, Message{to,
                                                            header,
                                                            std::move(data),
                                                            std::move(left),
                                                            std::vector<State>(fragments, State::unsent),
                                                            fragments,
                                                            false,
                                                            {}})
                           .first->second;
    if (!local(message)) {
        for (std::uint32_t index = 0; index < fragments; ++index)
            fragments_.emplace_back(header.message, index);
    } else if (Destination& here = destinations_[to]; here.full) {
        wait_for_room(here, header.message, message, 0);
    } else {
        depart({header.message, 0}, message, outcome);
    }
    dispatch(outcome);
    return outcome;
}

/// Null if its message has left: the answer is late.
SendQueue::Message* SendQueue::find(FragmentId fragment) {
    if (fragment.message() == 0 || fragment.message() >= next_)
        throw runtime::MalformedMessage("it is about no message that was sent");
    const auto found = messages_.find(fragment.message());
    if (found == messages_.end()) return nullptr;
    Message& sent = found->second;
    if (fragment.index() >= sent.states.size() || sent.states[fragment.index()] == State::unsent)
        throw runtime::MalformedMessage("its message has sent no such fragment");
    return &sent;
}

SendQueue::Outcome SendQueue::acknowledged(FragmentId fragment) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Message* const sent = find(fragment);
    if (!sent || sent->states[fragment.index()] == State::acknowledged) return outcome;
    if (sent->states[fragment.index()] == State::refused) {
        has_come_after_all(fragment, *sent, outcome);
    } else if (!local(*sent)) {
        ++buffers_free_;
    }
    sent->states[fragment.index()] = State::acknowledged;
    sent->accepted = true;
    if (!sent->waiting.empty()) send_again(destinations_[sent->to], fragment.message());
    if (--sent->missing == 0) {
        outcome.left = std::move(sent->left);
        messages_.erase(fragment.message());
    }
    dispatch(outcome);
    return outcome;
}

SendQueue::Outcome SendQueue::refused(ProcessId by, FragmentId fragment, bool has_room, Time now) {
    Outcome outcome;
    const SpinLock::Guard guard(lock_);
    Message* const sent = find(fragment);
    if (sent && sent->to != by) throw runtime::MalformedMessage("its message is for another process");
    Destination& to = destinations_[by];
    to.refused_at = now;
    ++to.refusals;  // of late answers too: `by` has counted them
    const bool news = sent && sent->states[fragment.index()] == State::flying;
    if (news) {
        sent->states[fragment.index()] = State::refused;
        if (!local(*sent)) ++buffers_free_;
        to.full = true;
        wait_for_room(to, fragment.message(), *sent, fragment.index());
    }
    if (has_room) {
        outcome.again = !to.waiting.empty() &&
                        (*to.waiting.begin() != fragment.message() || !follows_another(fragment.message()));
        to.has_room = !outcome.again;
    } else if (news) {
        // That one was refused before there was room, and its refusal comes later.
        outcome.again = std::exchange(to.has_room, false);
    }
    if (news && sent->accepted) send_again(to, fragment.message());
    dispatch(outcome);
    return outcome;
}

void SendQueue::wait_for_room(Destination& to, std::uint64_t number, Message& message, std::uint32_t index) {
    message.waiting.push_back(index);
    to.waiting.insert(number);
}

/// Whether a message before it, from the same thread to the same one, is on its way. If so, the receiver
/// tells when that has come.
bool SendQueue::follows_another(std::uint64_t number) const {
    const auto last = messages_.find(number);
    const FragmentHeader& header = last->second.header;
    return std::any_of(messages_.begin(), last, [&](const auto& one) {
        const Message& before = one.second;
        return before.to == last->second.to && !before.accepted &&
               before.header.source_thread == header.source_thread &&
               before.header.target_thread == header.target_thread;
    });
}

/// A copy of it was accepted. If it is about to be sent because its process has told of room, the next
/// message uses that, or the process may offer it to another one.
void SendQueue::has_come_after_all(FragmentId fragment, Message& message, Outcome& outcome) {
    Destination& to = destinations_[message.to];
    if (std::erase(message.waiting, fragment.index()) != 0) {
        if (message.waiting.empty()) to.waiting.erase(fragment.message());
    } else if (!to.waiting.empty()) {
        send_again(to, *to.waiting.begin());
    } else {
        to.full = false;
        outcome.relieved = {message.to, {to.refusals, 1}};
    }
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
    for (const std::uint32_t index : std::exchange(messages_.at(number).waiting, {}))
        again_.emplace_back(number, index);
    to.waiting.erase(number);
}

/// Sends fragments while there are buffers for them.
void SendQueue::dispatch(Outcome& outcome) {
    for (; !again_.empty(); again_.pop_front()) {
        const auto message = messages_.find(again_.front().message());
        if (message == messages_.end()) continue;  // it has come after all
        if (message->second.states[again_.front().index()] == State::acknowledged) continue;
        if (!local(message->second) && buffers_free_ == 0) return;
        depart(again_.front(), message->second, outcome);
    }
    for (; buffers_free_ > 0 && !fragments_.empty(); fragments_.pop_front()) {
        const FragmentId next = fragments_.front();
        Message& message = messages_.at(next.message());
        if (Destination& to = destinations_[message.to]; to.full && !message.accepted) {
            wait_for_room(to, next.message(), message, next.index());
        } else {
            depart(next, message, outcome);
        }
    }
}

void SendQueue::depart(FragmentId fragment, Message& message, Outcome& outcome) {
    if (!local(message)) --buffers_free_;
    ++sent_;
    message.states[fragment.index()] = State::flying;
    FragmentHeader header = message.header;
    header.index = fragment.index();
    outcome.departures.push_back({message.to, header, message.data});
}

std::uint64_t SendQueue::fragments() const {
    const SpinLock::Guard guard(lock_);
    return sent_;
}

}  // namespace heddle::messaging
