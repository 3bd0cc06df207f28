// An endpoint's side of sending and receiving: room at the receiver, matching, and large messages in parts.
#include "runtime/comm/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "base/relax.hpp"
#include "runtime/comm/endpoint_messages.hpp"
#include "runtime/comm/endpoints.hpp"
#include "runtime/comm/loan.hpp"

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

Endpoint::Endpoint(Node& node, Late late)
    : endpoints_(node.state<Endpoints>()),
      state_(std::make_unique<State>(endpoints_.new_number(late), std::uint64_t{window})) {
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
    endpoints_.close(*this);
}

std::vector<ArrivedPointer> Endpoint::State::take_all() {
    std::vector<ArrivedPointer> all;
    while (Matched* const message = messages.find({})) {
        messages.remove(*message);
        all.emplace_back(static_cast<Arrived*>(message));
    }
    const auto in_order = static_cast<std::ptrdiff_t>(all.size());
    exchanged.inbound.each([&](Inbound& from) {
        if (from.early.empty()) return;
        from.expected = from.early.rbegin()->first + 1;
        for (auto& [sequence, message] : from.early) all.push_back(std::move(message));
        from.early.clear();
    });
    std::sort(all.begin() + in_order, all.end(), [](const ArrivedPointer& a, const ArrivedPointer& b) {
        return std::pair(a->source, a->sequence) < std::pair(b->source, b->sequence);
    });
    return all;
}

Address Endpoint::address() const {
    return {endpoints_.node().id(), state_->number};
}

// --- arriving

ArrivedPointer Endpoint::State::arrive(ArrivedPointer message, Woken& woken) {
    Inbound& from = exchanged.inbound[message->source];
    if (message->sequence != from.expected) {
        const std::uint64_t sequence = message->sequence;
        if (sequence < from.expected) return message;
        from.early.emplace(sequence, std::move(message));
        return nullptr;
    }
    for (;;) {
        ++from.expected;
        deliver(std::move(message), woken);
        const auto next = from.early.begin();
        if (next == from.early.end() || next->first != from.expected) return nullptr;
        message = std::move(next->second);
        from.early.erase(next);
    }
}

void Endpoint::State::deliver(ArrivedPointer message, Woken& woken) {
    if (Matched* const receive = receives.take(message->source, message->tag)) {
        auto& posted = *static_cast<Posted*>(receive);
        give(std::move(message), posted);
        woken.add(posted);
        return;
    }
    messages.put(*message.release());
}

void Endpoint::State::give(ArrivedPointer message, Posted& receive) {
    // An announced message is received when its data are. What a receive that was begun has is received when
    // that is ended: until then it must not keep the credit of other messages to itself.
    if (message->offer == 0 && !receive.ends_later)
        receive.credit = free_window(message->source, cost_of(message->bytes));
    receive.message = std::move(message);
}

std::uint64_t Endpoint::State::free_window(std::uint64_t source, std::uint64_t cost) {
    Inbound& from = exchanged.inbound[source];
    from.received += cost;
    return from.received < Endpoint::window / 4 ? 0 : std::exchange(from.received, 0);
}

// --- sending

// Invariant: messages to one receiver ask for room in the order of their sequence numbers, and get it in that
// order. So no message waits for room that one after it has, which the receiver does not take before it.
void Endpoint::begin_send(Outgoing& send, Address to, std::uint64_t tag, Parcel data) {
    const NodeId nodes = endpoints_.node().topology().nodes;
    if (to.node >= nodes) {
        throw Error(fmt::format("a message for {}, and there are {} nodes", text_of(to), nodes),
                    "nodes are numbered from 0");
    }
    const std::uint64_t bytes = data.size() + data.declared() + (send.lent ? send.lent->bytes().size() : 0);
    send.large = to.node != endpoints_.node().id() && bytes + send.head.size() > eager_max;
    send.envelope = {.source = key_of(address()), .tag = tag, .bytes = bytes};
    send.data = std::move(data);
    send.room.at = to;
    send.room.cost = cost_of(send.envelope.bytes);
    const SpinLock::Guard guard(state_->lock);
    Outbound& outbound = state_->exchanged.outbound[key_of(to)];
    send.envelope.sequence = outbound.next++;
    send.has_room = outbound.take(send.room.cost, state_->window);
    if (!send.has_room) outbound.waiting.push_back(&send.room);
}

bool Endpoint::send_now(Worker& worker, Address to, std::uint64_t tag, Parcel& data, Sharing sharing) {
    const std::uint64_t bytes = data.size() + data.declared();
    if (to.node >= endpoints_.node().topology().nodes) return false;
    if (to.node != worker.id.node && bytes > eager_max) return false;
    Envelope envelope{.source = key_of(address()), .tag = tag, .bytes = bytes};
    {
        const SpinLock::Guard guard(state_->lock);
        Outbound& outbound = state_->exchanged.outbound[key_of(to)];
        if (!outbound.take(cost_of(bytes), state_->window)) return false;
        envelope.sequence = outbound.next++;
    }
    worker.charge(worker.costs->message_match);
    pass_on(worker, to, envelope, data, sharing);
    return true;
}

void Endpoint::end_send(const Caller& caller, Outgoing& send) {
    if (!send.has_room) caller.wait(send.room);
    const Address to = send.room.at;
    if (send.large) return send_in_parts(caller, send);
    pass_on(caller.worker(), to, send.envelope, send.data, send.sharing);
}

/// There is room, and the receiver is here or the message is small.
void Endpoint::pass_on(Worker& worker, Address to, const Envelope& envelope, Parcel& data, Sharing sharing) {
    if (to.node == worker.id.node) {
        endpoints_.arrive(worker, to.number, std::make_unique<Arrived>(envelope, std::move(data)));
    } else {
        post_message(worker, to, envelope, data, sharing);
    }
}

void Endpoint::send(Caller caller, Address to, std::uint64_t tag, Parcel data) {
    if (send_now(caller.worker(), to, tag, data)) return;
    caller.worker().charge(caller.worker().costs->message_match);
    Outgoing going;
    begin_send(going, to, tag, std::move(data));
    end_send(caller, going);
}

/// Of a large message to another node. There is room.
void Endpoint::announce(Worker& worker, Outgoing& send) {
    send.offer.to = send.room.at;
    send.offer.tag = send.envelope.tag;
    send.envelope.offer = endpoints_.put(send.offer);
    post_message(worker, send.room.at, send.envelope, send.head, Sharing::together);
    send.announced = true;
}

/// To another node: announces the message, and sends its parts when a receive has accepted it.
void Endpoint::send_in_parts(const Caller& caller, Outgoing& send) {
    if (!send.announced) announce(caller.worker(), send);
    caller.wait(send.offer);
    const bool accepted = send.offer.transfer != 0;
    if (!send.lent) {
        if (accepted) post_parts(caller.worker(), send, send.data.take_body());
        return;
    }
    std::optional<SentBody> content = send.lent->read();
    if (!content) return;
    if (accepted) post_parts(caller.worker(), send, *content);
    content.reset();
    send.lent->wait_for_return(caller);
}

/// `content`: what the message has of bytes that are not only declared.
void Endpoint::post_parts(Worker& worker, const Outgoing& send, const SentBody& content) {
    const std::uint64_t size = send.envelope.bytes;
    for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
        const std::uint64_t bytes = std::min(part_bytes, size - offset);
        const std::uint64_t begin = std::min(content->size(), offset);
        const std::uint64_t here = std::min(bytes, content->size() - begin);
        post_part(worker, send.room.at.node, {send.offer.transfer, offset},
                  {content.part(begin, here), bytes - here}, send.sharing);
    }
}

void Endpoint::start_send(Worker& worker, Address to, std::uint64_t tag, Parcel data,
                          std::function<void(Worker&)> left, Sharing sharing) {
    if (send_now(worker, to, tag, data, sharing)) return left(worker);
    worker.charge(worker.costs->message_match);
    const auto going = std::make_shared<Outgoing>();  // a strand's body is copied
    going->sharing = sharing;
    begin_send(*going, to, tag, std::move(data));
    // The caller may accept a message from there next. If its own announcement came after that accept, the
    // other node would send its data before it accepts. Messages of two nodes arrive in order, so its accept
    // would come after all its data, and the two directions of an exchange would take turns.
    if (going->large && going->has_room) announce(worker, *going);
    start_strand(worker, going, std::move(left));
}

void Endpoint::start_send(Worker& worker, Address to, std::uint64_t tag, LargeMessage message,
                          std::function<void(Worker&)> left, Sharing sharing) {
    HEDDLE_ASSERT(message.head.size() <= head_max);
    worker.charge(worker.costs->message_match);
    const auto going = std::make_shared<Outgoing>();
    going->sharing = sharing;
    going->head = Parcel(message.head);
    going->lent = std::move(message.lent);
    begin_send(*going, to, tag, std::move(message.data));
    if (to.node == worker.id.node) {
        HEDDLE_ASSERT(going->lent);
        going->left = std::move(left);
        if (going->has_room) return lend_here(worker, *going);
        const auto body = [this, going](Strand& self) {
            self.wait(going->room);
            lend_here(self.worker(), *going);
        };
        return Strand::start(worker, body, {"a send"});
    }
    HEDDLE_ASSERT(going->large);
    if (going->has_room) announce(worker, *going);
    start_strand(worker, going, std::move(left));
}

void Endpoint::lend_here(Worker& worker, Outgoing& send) {
    auto message = std::make_unique<Arrived>(send.envelope, std::move(send.data));
    message->lent = std::make_unique<LentHere>(
        LentHere{std::move(send.head), std::move(send.lent), std::move(send.left)});
    endpoints_.arrive(worker, send.room.at.number, std::move(message));
}

void Endpoint::start_strand(Worker& worker, std::shared_ptr<Outgoing> going,
                            std::function<void(Worker&)> left) {
    const auto body = [this, going = std::move(going), left = std::move(left)](Strand& self) {
        end_send(self, *going);
        left(self.worker());
    };
    Strand::start(worker, body, {"a send"});
}

// --- receiving

void Endpoint::begin(BegunReceive& receive) {
    Posted& posted = receive.posted;
    const SpinLock::Guard guard(state_->lock);
    const Match match = match_of(posted.filter);
    if (Matched* const found = state_->messages.find(match)) {
        state_->messages.remove(*found);
        state_->give(ArrivedPointer(static_cast<Arrived*>(found)), posted);
        receive.was_here = true;
    } else {
        state_->receives.put(posted, match);
    }
}

/// Asks for the data of a large message that was announced.
void Endpoint::fetch(Worker& worker, BegunReceive& receive, std::span<std::byte> place) {
    const Arrived& message = *receive.posted.message;
    HEDDLE_ASSERT(place.empty() || place.size() == message.bytes);
    Transfer& transfer = receive.transfer.emplace();
    transfer.size = transfer.missing = message.bytes;
    transfer.place = place;
    receive.number = endpoints_.put(transfer);
    post_accept(worker, address_of(message.source).node, message.offer, receive.number);
}

namespace {

std::unique_ptr<LargeIncoming> borrow(Address from, LentHere& lent) {
    const auto bytes = lent.loan->borrow();
    if (!bytes) throw Error(text_of(from) + " sends a message, and has ended with an error");
    return std::make_unique<LargeIncoming>(
        LargeIncoming{std::move(lent.head), 0, std::move(lent.loan), *bytes, std::move(lent.left)});
}

}  // namespace

// In line in its callers, because each return after a switch is predicted wrongly (strand_switch.hpp).
[[gnu::always_inline]] inline Incoming Endpoint::end(const Caller& caller, BegunReceive& receive,
                                                     const Place& place) {
    endpoints_.tell_given_up(caller.worker());
    if (!receive.was_here) caller.wait(receive.posted);
    Arrived& message = *receive.posted.message;
    const Address from = address_of(message.source);
    Incoming incoming{from, message.tag, {}};
    if (message.offer != 0) {
        if (!receive.transfer) {
            // The head stays where it is until that has returned: if it throws, the caller may come again.
            const auto there = place ? place(message.data, message.bytes) : std::span<std::byte>();
            fetch(caller.worker(), receive, there);
        }
        caller.wait(*receive.transfer);
        endpoints_.forget_transfer(receive.number);
        incoming.large = std::make_unique<LargeIncoming>(
            LargeIncoming{std::move(message.data), receive.transfer->place.size()});
        if (incoming.large->placed == 0) incoming.data = receive.transfer->whole();
    } else {
        incoming.data = std::move(message.data);
        if (message.lent) {
            incoming.large = borrow(from, *message.lent);
            message.lent.reset();
        }
    }
    if (message.offer != 0 || receive.posted.ends_later) {
        const SpinLock::Guard guard(state_->lock);
        receive.posted.credit = state_->free_window(message.source, cost_of(message.bytes));
    }
    caller.worker().charge(caller.worker().costs->message_match);
    if (receive.posted.credit != 0)
        endpoints_.give_credit(caller.worker(), from, address(), receive.posted.credit);
    return incoming;
}

Incoming Endpoint::receive(Caller caller, const Filter& filter) {
    BegunReceive receive;
    receive.posted.filter = filter;
    begin(receive);
    return end(caller, receive, {});
}

Endpoint::Receive Endpoint::begin_receive(const Filter& filter, Receive ended) {
    Receive receive = std::move(ended);
    if (receive.begun_) {
        HEDDLE_ASSERT(receive.ended_);
        std::destroy_at(receive.begun_.get());
        std::construct_at(receive.begun_.get());
        receive.ended_ = false;
    } else {
        receive.begun_ = std::make_unique<BegunReceive>();
    }
    receive.begun_->posted.ends_later = true;
    receive.begun_->at = this;
    receive.begun_->posted.filter = filter;
    begin(*receive.begun_);
    return receive;
}

bool Endpoint::has_come(Worker& worker, Receive& receive) {
    BegunReceive& begun = *receive.begun_;
    endpoints_.tell_given_up(worker);
    if (!begun.was_here && !begun.posted.done()) return false;
    if (begun.posted.message->offer == 0) return true;
    if (!begun.transfer) fetch(worker, begun, {});
    return begun.transfer->done();
}

Incoming Endpoint::end_receive(Caller caller, Receive& receive, const Place& place) {
    Incoming incoming = end(caller, *receive.begun_, place);
    receive.begun_->transfer.reset();
    receive.begun_->posted.message.reset();
    receive.ended_ = true;
    return incoming;
}

/// No message is to find it any more.
void Endpoint::give_up(BegunReceive& receive) {
    Posted& posted = receive.posted;
    {
        const SpinLock::Guard guard(state_->lock);
        if (!receive.was_here && !posted.message) return state_->receives.remove(posted);
    }
    // The context that has brought its message is about to complete it.
    if (!receive.was_here)
        for (Patience patience; !posted.done(); patience.wait()) {
        }
    if (receive.transfer) {
        endpoints_.give_up(receive.number, *receive.transfer);
        posted.message->offer = 0;  // its sender was answered
    }
    endpoints_.give_up(state_->number, std::move(posted.message));
}

Endpoint::Receive::Receive() = default;
Endpoint::Receive::Receive(Receive&& other) noexcept = default;
Endpoint::Receive& Endpoint::Receive::operator=(Receive&& other) noexcept {
    std::swap(begun_, other.begun_);
    std::swap(ended_, other.ended_);
    return *this;
}
Endpoint::Receive::~Receive() {
    if (begun_ && !ended_) begun_->at->give_up(*begun_);
}

std::optional<Endpoint::Waiting> Endpoint::probe(const Filter& filter) {
    const SpinLock::Guard guard(state_->lock);
    const Matched* const found = state_->messages.find(match_of(filter));
    if (!found) return std::nullopt;
    return Waiting{address_of(found->source), found->tag, static_cast<const Arrived*>(found)->bytes};
}

}  // namespace heddle::runtime
