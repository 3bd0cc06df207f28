// An endpoint's side of sending and receiving: room at the receiver, matching, and large messages in parts.
#include "runtime/comm/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "runtime/comm/endpoint_messages.hpp"
#include "runtime/comm/endpoints.hpp"

namespace heddle::runtime {

namespace {

std::string text_of(Address address) {
    return fmt::format("endpoint {} of node {}", address.number, address.node);
}

Match match_of(const Filter& filter) {
    Match match;
    if (filter.from) match.source = key_of(*filter.from);
    match.tag = filter.tag;
    return match;
}

}  // namespace

// --- what can be waited for

std::string Posted::what() const {
    std::string text = "a message";
    if (filter.tag) text += fmt::format(" with tag {}", *filter.tag);
    if (filter.from) text += " from " + text_of(*filter.from);
    return text;
}

std::string Offer::what() const {
    return fmt::format("a receive of a large message with tag {} at {}", tag, text_of(to));
}

std::string Room::what() const {
    return "room for a message at " + text_of(at);
}

// --- opening and closing

Endpoint::Endpoint(Node& node)
    : endpoints_(node.state<Endpoints>()),
      state_(std::make_unique<State>(endpoints_.new_number(), std::uint64_t{window})) {
    endpoints_.open(*this);
}

Endpoint::Endpoint(Node& node, std::uint32_t number, std::uint64_t its_window)
    : endpoints_(node.state<Endpoints>()),
      state_(std::make_unique<State>(number, std::max(its_window, window))) {
    if (number >= first_given)
        throw Error(fmt::format("endpoint {} of node {}", number, node.id()), "numbers are below 2^31");
    endpoints_.open(*this);
}

Endpoint::~Endpoint() {
    endpoints_.close(state_->number);
}

Endpoint::State::~State() {
    while (Matched* const message = messages.find({})) {
        messages.remove(*message);
        delete static_cast<Arrived*>(message);
    }
}

Address Endpoint::address() const {
    return {endpoints_.node().id(), state_->number};
}

// --- arriving

void Endpoint::State::arrive(ArrivedPointer message, std::vector<Posted*>& woken) {
    Inbound& from = inbound[message->source];
    if (message->sequence != from.expected) {
        const std::uint64_t sequence = message->sequence;
        from.early.emplace(sequence, std::move(message));
        return;
    }
    for (;;) {
        ++from.expected;
        deliver(std::move(message), woken);
        const auto next = from.early.begin();
        if (next == from.early.end() || next->first != from.expected) return;
        message = std::move(next->second);
        from.early.erase(next);
    }
}

void Endpoint::State::deliver(ArrivedPointer message, std::vector<Posted*>& woken) {
    if (Matched* const receive = receives.take(message->source, message->tag)) {
        auto& posted = *static_cast<Posted*>(receive);
        posted.message = std::move(message);
        woken.push_back(&posted);
        return;
    }
    messages.put(*message.release());
}

// --- sending

/// The next message to `to`: its place in the order is taken from now on.
ArrivedPointer Endpoint::make_message(Address to, std::uint64_t tag, std::uint64_t bytes) {
    const NodeId nodes = endpoints_.node().topology().nodes;
    if (to.node >= nodes) {
        throw Error(fmt::format("a message for {}, and there are {} nodes", text_of(to), nodes),
                    "nodes are numbered from 0");
    }
    auto message = std::make_unique<Arrived>();
    message->source = key_of(address());
    message->tag = tag;
    message->bytes = bytes;
    const SpinLock::Guard guard(state_->lock);
    message->sequence = state_->outbound[key_of(to)].next++;
    return message;
}

/// Returns when the receiver has room for the message. Room is given in the order in which it was asked for.
void Endpoint::wait_for_room(const Caller& caller, Address to, std::uint64_t cost) {
    Room room;
    room.at = to;
    room.cost = cost;
    {
        const SpinLock::Guard guard(state_->lock);
        if (state_->outbound[key_of(to)].ask(room, state_->window)) return;
    }
    caller.wait(room);
}

void Endpoint::send(Caller caller, Address to, std::uint64_t tag, Parcel data) {
    ArrivedPointer message = make_message(to, tag, data.size());
    send(caller, to, std::move(message), std::move(data));
}

void Endpoint::send(const Caller& caller, Address to, ArrivedPointer message, Parcel data) {
    wait_for_room(caller, to, cost_of(data.size()));
    if (to.node == caller.node().id()) {
        message->data = std::move(data);
        endpoints_.arrive(caller.worker(), to.number, std::move(message));
    } else if (data.size() <= eager_max) {
        post_message(caller.worker(), to, *message, data.bytes());
    } else {
        send_in_parts(caller, to, *message, data.take_body());
    }
}

/// To another node: announces the message, and sends its parts when a receive has accepted it.
void Endpoint::send_in_parts(const Caller& caller, Address to, Arrived& message, const Body& body) {
    Offer offer;
    offer.to = to;
    offer.tag = message.tag;
    message.offer = endpoints_.put(offer);
    post_message(caller.worker(), to, message, {});
    caller.wait(offer);
    const std::uint64_t size = body->size();
    for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
        const std::uint64_t bytes = std::min(part_bytes, size - offset);
        Body part = body;
        if (bytes != size) {
            const auto begin = body->begin() + static_cast<std::ptrdiff_t>(offset);
            part = std::make_shared<Bytes>(begin, begin + static_cast<std::ptrdiff_t>(bytes));
        }
        post_part(caller.worker(), to.node, offer.transfer, offset, std::move(part));
    }
}

void Endpoint::start_send(Worker& worker, Address to, std::uint64_t tag, Body data,
                          std::function<void(Worker&)> left) {
    Parcel parcel(std::move(data));
    struct Sending {
        ArrivedPointer message;
        Parcel data;
        std::function<void(Worker&)> left;
    };
    auto sending = std::make_shared<Sending>();  // a strand's body is copied
    sending->message = make_message(to, tag, parcel.size());
    sending->data = std::move(parcel);
    sending->left = std::move(left);
    const auto body = [this, to, sending](Strand& self) {
        send(self, to, std::move(sending->message), std::move(sending->data));
        sending->left(self.worker());
    };
    Strand::start(worker, body, {"a send"});
}

// --- receiving

Incoming Endpoint::receive(Caller caller, const Filter& filter) {
    Posted posted;
    posted.filter = filter;
    bool here = false;
    {
        const SpinLock::Guard guard(state_->lock);
        const Match match = match_of(filter);
        if (Matched* const found = state_->messages.find(match)) {
            state_->messages.remove(*found);
            posted.message.reset(static_cast<Arrived*>(found));
            here = true;
        } else {
            state_->receives.put(posted, match);
        }
    }
    if (!here) caller.wait(posted);
    Arrived& message = *posted.message;
    const Address from = address_of(message.source);
    if (message.offer != 0) message.data = fetch(caller, from.node, message);
    give_credit(caller.worker(), from, cost_of(message.bytes));
    return {from, message.tag, std::move(message.data)};
}

/// The data of a large message that was announced.
Parcel Endpoint::fetch(const Caller& caller, NodeId from, const Arrived& message) {
    Transfer transfer;
    transfer.size = transfer.missing = message.bytes;
    const std::uint64_t number = endpoints_.put(transfer);
    post_accept(caller.worker(), from, message.offer, number);
    caller.wait(transfer);
    endpoints_.forget_transfer(number);
    if (transfer.parts.size() == 1) return std::move(transfer.parts.front().data);
    auto whole = std::make_shared<Bytes>(message.bytes);
    for (const Transfer::Part& part : transfer.parts) {
        const auto bytes = part.data.bytes();
        std::memcpy(whole->data() + part.offset, bytes.data(), bytes.size());
    }
    return Parcel(Body(std::move(whole)));
}

/// Tells a sender now and then how much of its window is free again.
void Endpoint::give_credit(Worker& worker, Address sender, std::uint64_t cost) {
    std::uint64_t bytes = 0;
    {
        const SpinLock::Guard guard(state_->lock);
        State::Inbound& from = state_->inbound[key_of(sender)];
        from.received += cost;
        if (from.received < window / 4) return;
        bytes = std::exchange(from.received, 0);
    }
    if (sender.node == worker.id.node) {
        endpoints_.on_credit(worker, sender.number, address(), bytes);
    } else {
        post_credit(worker, sender, address(), bytes);
    }
}

std::optional<Endpoint::Waiting> Endpoint::probe(const Filter& filter) {
    const SpinLock::Guard guard(state_->lock);
    const Matched* const found = state_->messages.find(match_of(filter));
    if (!found) return std::nullopt;
    return Waiting{address_of(found->source), found->tag, static_cast<const Arrived*>(found)->bytes};
}

}  // namespace heddle::runtime
