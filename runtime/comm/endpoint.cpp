// An endpoint's side of sending and receiving: room at the receiver, matching, and large messages in parts.
#include "runtime/comm/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
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
      state_(
          std::make_shared<State>(endpoints_.new_number(late), std::uint64_t{window}, !node.one_thread())) {
    endpoints_.open(*this);
}

Endpoint::Endpoint(Node& node, std::uint32_t number, std::uint64_t its_window, Number use)
    : endpoints_(node.state<Endpoints>()),
      state_(std::make_shared<State>(number, std::max(its_window, window), !node.one_thread(),
                                     use == Number::once)) {
    if (number >= first_given)
        throw Error(fmt::format("endpoint {} of node {}", number, node.id()), "numbers are below 2^31");
    endpoints_.open(*this);
}

Endpoint::~Endpoint() {
    endpoints_.close(*this);
}

Address Endpoint::address() const {
    return {endpoints_.node().id(), state_->number};
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
    const State::Guard guard(*state_);
    Outbound& outbound = state_->exchanged.outbound[key_of(to)];
    send.envelope.sequence = outbound.next++;
    send.has_room = outbound.take(send.room.cost, state_->window);
    if (!send.has_room) outbound.waiting.push_back(&send.room);
}

/// The way to a receiver.
struct Endpoint::Passage {
    Address to;
    State* there = nullptr;        ///< Outbound::there
    Outbound* outbound = nullptr;  ///< under this endpoint's lock
};

Endpoint::Passage Endpoint::passage_to(Address to) {
    const State::Guard guard(*state_);
    Outbound& outbound = state_->exchanged.outbound[key_of(to)];
    return {to, outbound.there.get(), &outbound};
}

/// False: it is too large, or there is no room. Else it has its place in the order.
[[gnu::always_inline]] inline bool Endpoint::take_room(Worker& worker, Address to, Envelope& envelope,
                                                       Passage& passage) {
    if (to.node >= endpoints_.node().topology().nodes) return false;
    if (to.node != worker.id.node && envelope.bytes > eager_max) return false;
    envelope.source = std::uint64_t{worker.id.node} << 32U | state_->number;
    passage.to = to;
    {
        const State::Guard guard(*state_);
        Outbound& outbound = state_->exchanged.outbound[key_of(to)];
        if (!outbound.take(cost_of(envelope.bytes), state_->window)) return false;
        envelope.sequence = outbound.next++;
        passage.there = outbound.there.get();
        passage.outbound = &outbound;
    }
    worker.charge(worker.costs->message_match);
    return true;
}

void Endpoint::end_send(const Caller& caller, Outgoing& send) {
    if (!send.has_room) caller.wait(send.room);
    const Address to = send.room.at;
    if (send.large) return send_in_parts(caller, send);
    Passage passage = passage_to(to);
    pass_on(caller.worker(), passage, send.envelope, send.data, send.sharing);
}

/// There is room, and the receiver is here or the message is small.
void Endpoint::find_there(Passage& passage) {
    auto found = endpoints_.open_at(passage.to.number);
    const State::Guard guard(*state_);
    if (!passage.outbound->there) passage.outbound->there = std::move(found);
    passage.there = passage.outbound->there.get();
}

/// At a receiver of this node.
template <class Fill>
inline void Endpoint::arrive_here(Worker& worker, Passage& passage, const Envelope& envelope,
                                  const Fill& fill) {
    if (!passage.there) [[unlikely]]
        find_there(passage);
    if (passage.there && endpoints_.arrive_at(worker, *passage.there, envelope, fill)) [[likely]]
        return;
    endpoints_.arrive_somewhere(worker, passage.to.number, Message(envelope, fill));
}

void Endpoint::pass_on(Worker& worker, Passage& passage, const Envelope& envelope, Parcel& data,
                       Sharing sharing) {
    if (passage.to.node == worker.id.node) {
        arrive_here(worker, passage, envelope, [&data](Message& message) { message.data = std::move(data); });
    } else {
        post_message(worker, passage.to, envelope, data, sharing);
    }
}

bool Endpoint::send_now(Worker& worker, Address to, std::uint64_t tag, Parcel& data, Sharing sharing) {
    Envelope envelope{.tag = tag, .bytes = data.size() + data.declared()};
    Passage passage;
    if (!take_room(worker, to, envelope, passage)) return false;
    pass_on(worker, passage, envelope, data, sharing);
    return true;
}

bool Endpoint::send_now(Worker& worker, Address to, std::uint64_t tag, std::span<const std::byte> bytes) {
    Envelope envelope{.tag = tag, .bytes = bytes.size()};
    Passage passage;
    if (!take_room(worker, to, envelope, passage)) return false;
    if (to.node != worker.id.node) {
        post_message(worker, to, envelope, bytes);
        return true;
    }
    // The bytes may lie in a page that is not here, and no lock may be held while that comes.
    std::uint64_t word = 0;
    if (bytes.size() == sizeof word) {
        std::memcpy(&word, bytes.data(), sizeof word);
        arrive_here(worker, passage, envelope,
                    [&](Message& message) { message.data.assign(bytes_of(word)); });
    } else {
        Parcel data(bytes);
        arrive_here(worker, passage, envelope, [&](Message& message) { message.data = std::move(data); });
    }
    return true;
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
        return Strand::start(worker, body, {.name = "a send", .task = false});
    }
    HEDDLE_ASSERT(going->large);
    if (going->has_room) announce(worker, *going);
    start_strand(worker, going, std::move(left));
}

void Endpoint::lend_here(Worker& worker, Outgoing& send) {
    Passage passage = passage_to(send.room.at);
    arrive_here(worker, passage, send.envelope, [&send](Message& message) {
        message.data = std::move(send.data);
        message.lent = std::make_unique<LentHere>(
            LentHere{std::move(send.head), std::move(send.lent), std::move(send.left)});
    });
}

void Endpoint::start_strand(Worker& worker, std::shared_ptr<Outgoing> going,
                            std::function<void(Worker&)> left) {
    const auto body = [this, going = std::move(going), left = std::move(left)](Strand& self) {
        end_send(self, *going);
        left(self.worker());
    };
    Strand::start(worker, body, {.name = "a send", .task = false});
}

// --- receiving

/// True if a sender is to be told (Endpoints::tell_early).
bool Endpoint::begin(BegunReceive& receive) {
    Posted& posted = receive.posted;
    {
        const State::Guard guard(*state_);
        const Match match = match_of(posted.filter);
        Arrived* const found = state_->take(match);
        if (!found) {
            state_->receives.put(posted, match);
            return false;
        }
        Message& message = found->message;
        State::give(state_->exchanged.inbound[found->source], message, moved_from(message), posted);
        state_->put_away(*found);
        receive.was_here = true;
    }
    return endpoints_.tell_early(state_->number, posted);
}

/// Asks for the data of a large message that was announced.
void Endpoint::fetch(Worker& worker, BegunReceive& receive, std::span<std::byte> place) {
    const Message& message = receive.posted.message;
    HEDDLE_ASSERT(place.empty() || place.size() == message.bytes);
    Transfer& transfer = receive.transfer.emplace();
    transfer.size = transfer.missing = message.bytes;
    transfer.place = place;
    receive.number = endpoints_.put(transfer);
    post_accept(worker, address_of(message.source).node, message.offer, receive.number);
}

namespace {

std::unique_ptr<LargeIncoming> borrow(Address from, LentHere& lent) {
    auto borrowed = lent.loan->borrow();
    if (!borrowed) throw Error(text_of(from) + " sends a message, and has ended with an error");
    return std::make_unique<LargeIncoming>(LargeIncoming{std::move(lent.head), 0, std::move(borrowed->loan),
                                                         borrowed->bytes, std::move(lent.left)});
}

}  // namespace

/// The data of an announced message.
void Endpoint::take_announced(const Caller& caller, BegunReceive& receive, const Place& place,
                              Incoming& incoming) {
    Message& message = receive.posted.message;
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
}

// In line in its callers, because each return after a switch is predicted wrongly (strand_switch.hpp).
[[gnu::always_inline]] inline Incoming Endpoint::end(const Caller& caller, BegunReceive& receive,
                                                     const Place& place) {
    endpoints_.tell_given_up(caller.worker());
    if (!receive.was_here) caller.wait(receive.posted);
    Message& message = receive.posted.message;
    const Address from = address_of(message.source);
    const bool announced = message.offer != 0;
    Incoming incoming{from, message.tag, announced ? Parcel() : std::move(message.data)};
    if (announced) [[unlikely]] {
        take_announced(caller, receive, place, incoming);
    } else if (message.lent) [[unlikely]] {
        incoming.large = borrow(from, *message.lent);
        message.lent.reset();
    }
    if (announced || receive.posted.ends_later) {
        const State::Guard guard(*state_);
        Credit& credit = state_->exchanged.inbound[message.source].credit;
        receive.posted.credit = receive.posted.ends_later ? credit.end_held(cost_of(message.bytes))
                                                          : credit.receive(cost_of(message.bytes));
    }
    caller.worker().charge(caller.worker().costs->message_match);
    if (receive.posted.credit != 0)
        endpoints_.give_credit(caller.worker(), from, address(), receive.posted.credit);
    return incoming;
}

Incoming Endpoint::receive(Caller caller, const Filter& filter) {
    BegunReceive receive;
    receive.posted.set_one_thread(!state_->shared);
    receive.posted.filter = filter;
    begin(receive);
    Endpoints& endpoints = endpoints_;  // the endpoint may go before its strand is unwound
    try {
        return end(caller, receive, {});
    } catch (...) {
        // The program may have ended the run: parts of the message still come, and ask for room.
        if (receive.transfer) endpoints.give_up(receive.number, *receive.transfer);
        throw;
    }
}

Endpoint::Receive Endpoint::begin_receive(Worker& worker, const Filter& filter, Receive ended) {
    Receive receive = std::move(ended);
    begin_receive(worker, receive, filter);
    return receive;
}

void Endpoint::begin_receive(Worker& worker, Receive& receive, const Filter& filter) {
    if (receive.begun_) {
        HEDDLE_ASSERT(receive.ended_);
        receive.begun_->begin_again();
        receive.ended_ = false;
    } else {
        receive.begun_ = std::make_unique<BegunReceive>();
        receive.begun_->posted.ends_later = true;
        receive.begun_->posted.set_one_thread(!state_->shared);
    }
    receive.begun_->at = this;
    receive.begun_->posted.filter = filter;
    // Now, because the caller may compute for long before it waits, and the other workers sleep.
    if (begin(*receive.begun_)) [[unlikely]]
        endpoints_.tell_given_up(worker);
}

bool Endpoint::has_come(Worker& worker, Receive& receive) {
    BegunReceive& begun = *receive.begun_;
    endpoints_.tell_given_up(worker);
    if (!begun.was_here && !begun.posted.done()) return false;
    if (begun.posted.message.offer == 0) return true;
    if (!begun.transfer) fetch(worker, begun, {});
    return begun.transfer->done();
}

Incoming Endpoint::end_receive(Caller caller, Receive& receive, const Place& place) {
    Incoming incoming = end(caller, *receive.begun_, place);
    receive.begun_->transfer.reset();
    receive.ended_ = true;
    return incoming;
}

/// No message is to find it any more.
void Endpoint::give_up(BegunReceive& receive) {
    Posted& posted = receive.posted;
    {
        const State::Guard guard(*state_);
        if (!receive.was_here && !posted.has_it) return state_->receives.remove(posted);
    }
    // The context that has brought its message is about to complete it.
    if (!receive.was_here)
        for (Patience patience; !posted.done(); patience.wait()) {
        }
    if (receive.transfer) {
        endpoints_.give_up(receive.number, *receive.transfer);
        posted.message.offer = 0;  // its sender was answered
    }
    std::uint64_t credit = 0;
    {
        const State::Guard guard(*state_);
        Inbound& from = state_->exchanged.inbound[posted.message.source];
        credit = from.credit.give_up_held(cost_of(posted.message.bytes));
    }
    endpoints_.give_up(state_->number, std::move(posted.message), credit);
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
    const State::Guard guard(*state_);
    const Matched* const found = state_->messages.find(match_of(filter));
    if (!found) return std::nullopt;
    return Waiting{address_of(found->source), found->tag, static_cast<const Arrived*>(found)->message.bytes};
}

}  // namespace heddle::runtime
