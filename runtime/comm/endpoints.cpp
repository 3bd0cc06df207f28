// Finds the endpoint that a message is for, and handles the messages between the endpoints of two nodes.
#include "runtime/comm/endpoints.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "runtime/comm/endpoint_messages.hpp"
#include "runtime/comm/wire.hpp"

namespace heddle::runtime {

namespace {

struct MessageHeader {
    std::uint32_t to;
    std::uint32_t from;
    std::uint64_t tag;
    std::uint64_t sequence;
    std::uint64_t bytes;
    std::uint64_t offer;
};
struct AcceptMessage {
    std::uint64_t offer;
    std::uint64_t transfer;  ///< 0: no receive takes it
};
struct PartHeader {
    std::uint64_t transfer;
    std::uint32_t number;    ///< in units of Endpoint::part_bytes
    std::uint32_t declared;  ///< bytes without content, after those with

    PartPlace place() const { return {transfer, number * Endpoint::part_bytes}; }
};
struct CreditMessage {
    std::uint32_t sender;
    Address receiver;
    std::uint64_t bytes;
};

void take_message(Node& node, NodeId from, std::span<const std::byte> message, bool declared) {
    Reader reader(message);
    const auto header = reader.get<MessageHeader>();
    const auto small = reader.get_rest();
    reader.check();
    // Before bytes that are only declared, many bytes of content are enclosed (Outbox::body_bytes_min).
    const Body body = declared ? node.take_body() : nullptr;
    const std::span<const std::byte> data = body ? std::span<const std::byte>(*body) : small;
    if (header.offer != 0 && (declared || data.size() > Endpoint::head_max))
        throw MalformedMessage("its announcement has data");
    if (header.offer == 0 && (declared ? data.size() >= header.bytes || header.bytes > Endpoint::eager_max
                                       : data.size() != header.bytes))
        throw MalformedMessage("its data are not as long as it says");
    const Envelope envelope{key_of({from, header.from}), header.tag, header.sequence, header.bytes,
                            header.offer};
    node.state<Endpoints>().arrive(header.to, envelope, [&](Message& filled) {
        if (!declared) return filled.data.assign(data);
        filled.data = Parcel(body ? body : std::make_shared<Bytes>(data.begin(), data.end()),
                             header.bytes - data.size());
    });
}

const Handler message_handler("endpoint.message", Handler::Kind::work,
                              [](Node& node, NodeId from, auto message) {
                                  take_message(node, from, message, false);
                              });

// The bytes that it lacks are declared.
const Handler declared_handler("endpoint.declared", Handler::Kind::work,
                               [](Node& node, NodeId from, auto message) {
                                   take_message(node, from, message, true);
                               });

const Handler accept_handler("endpoint.accept", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    const auto accept = value_in<AcceptMessage>(message);
    node.state<Endpoints>().on_accept(accept.offer, accept.transfer);
});

const Handler part_handler(
    "endpoint.part", Handler::Kind::work,
    [](Node& node, NodeId, auto message) {
        Reader reader(message);
        const auto header = reader.get<PartHeader>();
        const auto small = reader.get_rest();
        reader.check();
        Body body = node.take_body();
        if (!body && !small.empty()) body = std::make_shared<Bytes>(small.begin(), small.end());
        node.state<Endpoints>().on_part(header.place(), Parcel(std::move(body), header.declared));
    },
    Handler::IfGone::error,
    [](Node& node, auto message, std::uint64_t bytes) -> NodeProgram::Room {
        Reader reader(message);
        const auto header = reader.get<PartHeader>();
        if (!reader.done() || header.declared != 0) return {};  // the handler reads it again
        return node.state<Endpoints>().room(header.place(), bytes);
    });

const Handler credit_handler("endpoint.credit", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    const auto credit = value_in<CreditMessage>(message);
    node.state<Endpoints>().on_credit(node.receiver(), credit.sender, credit.receiver, credit.bytes);
});

}  // namespace

namespace {

MessageHeader header_of(Address to, const Envelope& message) {
    return {to.number,    address_of(message.source).number, message.tag, message.sequence, message.bytes,
            message.offer};
}

}  // namespace

void post_message(Worker& worker, Address to, const Envelope& message, std::span<const std::byte> bytes) {
    const MessageHeader header = header_of(to, message);
    worker.outbox().post(to.node, message_handler, bytes_of(header), Outbox::Urgency::now, bytes);
}

void post_message(Worker& worker, Address to, const Envelope& message, const Parcel& data,
                  Endpoint::Sharing sharing) {
    const MessageHeader header = header_of(to, message);
    const Handler& handler = data.declared() > 0 ? declared_handler : message_handler;
    if (sharing == Endpoint::Sharing::in_turn)
        return worker.outbox().post_in_turn(to.node, handler, bytes_of(header), data.bytes(),
                                            {.padding = data.declared()});
    if (data.declared() > 0)
        return worker.outbox().post(
            to.node, handler, bytes_of(header),
            {std::make_shared<Bytes>(data.bytes().begin(), data.bytes().end()), data.declared()});
    post_message(worker, to, message, data.bytes());
}

void post_accept(Worker& worker, NodeId sender, std::uint64_t offer, std::uint64_t transfer) {
    worker.outbox().post(sender, accept_handler, bytes_of(AcceptMessage{offer, transfer}));
}

void post_refusal(Worker& worker, NodeId sender, std::uint64_t offer) {
    post_accept(worker, sender, offer, 0);
}

void post_part(Worker& worker, NodeId receiver, PartPlace place, Enclosure data, Endpoint::Sharing sharing) {
    const PartHeader header{place.transfer, static_cast<std::uint32_t>(place.offset / Endpoint::part_bytes),
                            static_cast<std::uint32_t>(data.padding)};
    if (sharing == Endpoint::Sharing::together)
        return worker.outbox().post(receiver, part_handler, bytes_of(header), std::move(data));
    if (data.body->size() >= Outbox::body_bytes_min)
        return worker.outbox().post_in_turn(receiver, part_handler, bytes_of(header), {}, std::move(data));
    const SentBody body = std::move(data.body);
    worker.outbox().post_in_turn(receiver, part_handler, bytes_of(header), *body, {{}, data.padding});
}

void post_credit(Worker& worker, Address sender, Address receiver, std::uint64_t bytes) {
    worker.outbox().post(sender.node, credit_handler, bytes_of(CreditMessage{sender.number, receiver, bytes}),
                         Outbox::Urgency::gathered);
}

// --- which endpoints there are

std::uint32_t Endpoints::new_number(Endpoint::Late late) {
    const SpinLock::Guard guard(lock_);
    std::uint32_t& next = late == Endpoint::Late::error ? next_strict_ : next_number_;
    if (next == (late == Endpoint::Late::error ? 0 : Endpoint::first_strict))
        throw Error(fmt::format("node {} has given all numbers of endpoints", node_.id()),
                    "open fewer endpoints: a node gives each number once");
    return next++;
}

void Endpoints::open(Endpoint& endpoint) {
    const std::uint32_t number = endpoint.state_->number;
    const SpinLock::Guard guard(lock_);
    if (!open_.emplace(number, endpoint.state_).second) {
        throw Error(fmt::format("node {} has an endpoint {} already", node_.id(), number),
                    "give each endpoint a number of its own");
    }
    Endpoint::State& state = *endpoint.state_;
    const Endpoint::State::Guard inner(state);
    if (const auto closed = closed_.find(number); closed != closed_.end()) {
        state.exchanged = std::move(closed->second);
        closed_.erase(closed);
    }
    const auto early = early_.find(number);
    if (early == early_.end()) return;
    Woken none;
    for (Message& message : early->second)
        if (!state.arrive(message, moved_from(message), none)) put_untold(number, std::move(message));
    early_.erase(early);
}

// Invariant: a context that has found an endpoint, now or long ago, gives it messages under its lock, and
// only while it is open. So once it is neither found nor open, it gets no more. Of one that is used once all
// messages have come, and a credit that comes later finds nothing: no sender waits for it.
void Endpoints::close(Endpoint& endpoint) {
    Endpoint::State& state = *endpoint.state_;
    std::vector<Message> given_up;
    {
        const SpinLock::Guard guard(lock_);
        const Endpoint::State::Guard inner(state);
        open_.erase(state.number);
        state.open = false;
        given_up = state.take_all();
        const bool is_over = state.once && given_up.empty() && std::uncaught_exceptions() == 0;
        if (state.number < Endpoint::first_given && !is_over) {
            state.exchanged.outbound.each([](Outbound& to) { to.there.reset(); });
            closed_.emplace(state.number, std::move(state.exchanged));
        }
    }
    const bool goes_on = !node_.stopping();  // else no sender waits any more, and no worker would tell it
    for (Message& message : given_up)
        if (goes_on) give_up(state.number, std::move(message));
    state.forget_others();
}

std::shared_ptr<Endpoint::State> Endpoints::open_at(std::uint32_t number) {
    const SpinLock::Guard guard(lock_);
    const auto found = open_.find(number);
    return found == open_.end() ? nullptr : found->second;
}

std::optional<Endpoints::Early> Endpoints::early_among(std::uint32_t first, std::uint32_t end) {
    const SpinLock::Guard guard(lock_);
    std::optional<Early> least;
    for (const auto& [number, messages] : early_) {
        if (number < first || number >= end || (least && least->number < number)) continue;
        least = {number, address_of(messages.front().source), messages.front().tag};
    }
    return least;
}

/// No open endpoint has number `to`. Under the lock. Whether the message was given up.
bool Endpoints::arrive_closed(std::uint32_t to, Message&& message) {
    if (to < Endpoint::first_given) {
        const auto closed = closed_.find(to);
        if (closed != closed_.end() && message.sequence < closed->second.inbound[message.source].expected) {
            put_untold(to, std::move(message));
            return true;
        }
        early_[to].push_back(std::move(message));
        return false;
    }
    // A number that this node gave belongs to an endpoint that is closed.
    if (to < Endpoint::first_strict) {
        put_untold(to, std::move(message));
        return true;
    }
    const Address from = address_of(message.source);
    throw Error(fmt::format("a message with tag {} from endpoint {} of node {} came for endpoint {} of "
                            "node {}, which is closed",
                            message.tag, from.number, from.node, to, node_.id()),
                "let the receiver go on until the last message for it has come");
}

/// The endpoint may have been opened or closed meanwhile.
void Endpoints::arrive_somewhere(Context& caller, std::uint32_t to, Message&& message) {
    for (;;) {
        const std::shared_ptr<Endpoint::State> found = open_at(to);
        if (found && arrive_at(caller, *found, message, moved_from(message))) return;
        const SpinLock::Guard guard(lock_);
        if (open_.contains(to)) continue;
        if (!arrive_closed(to, std::move(message))) return;
        break;
    }
    node_.wake_one(caller);
}

void Endpoints::on_credit(Context& caller, std::uint32_t sender, Address receiver, std::uint64_t bytes) {
    std::vector<Room*> given;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = open_.find(sender);
        if (found == open_.end()) {
            const auto closed = closed_.find(sender);
            if (closed != closed_.end()) closed->second.outbound[key_of(receiver)].give_back(bytes, 0, given);
            return;
        }
        Endpoint::State& endpoint = *found->second;
        const Endpoint::State::Guard inner(endpoint);
        endpoint.exchanged.outbound[key_of(receiver)].give_back(bytes, endpoint.window, given);
    }
    for (Room* const room : given) room->complete(node_, caller);
}

void Endpoints::give_credit(Worker& worker, Address sender, Address receiver, std::uint64_t bytes) {
    if (sender.node == node_.id()) {
        on_credit(worker, sender.number, receiver, bytes);
    } else {
        post_credit(worker, sender, receiver, bytes);
    }
}

// --- messages that were given up

void Endpoints::give_up(std::uint32_t receiver, Message&& message, std::uint64_t credit) {
    const SpinLock::Guard guard(lock_);
    put_untold(receiver, std::move(message), credit);
}

void Endpoints::give_up(std::uint32_t receiver, Message&& message) {
    const std::uint64_t credit = cost_of(message.bytes);
    give_up(receiver, std::move(message), credit);
}

void Endpoints::put_early_credit(std::uint32_t receiver, Posted& receive) {
    Message source_only;
    source_only.source = receive.message.source;
    give_up(receiver, std::move(source_only), std::exchange(receive.credit, 0));
}

/// Under the lock.
void Endpoints::put_untold(std::uint32_t receiver, Message&& message, std::uint64_t credit) {
    waiting_.add();
    untold_.push_back({receiver, std::move(message), credit});
}

void Endpoints::put_untold(std::uint32_t receiver, Message&& message) {
    const std::uint64_t credit = cost_of(message.bytes);
    put_untold(receiver, std::move(message), credit);
}

bool Endpoints::run(Worker& worker, Slot* /*head*/) {
    worker.show_active();
    const bool told = tell_all(worker);
    worker.show_passive();
    return told;
}

/// False if there was none.
bool Endpoints::tell_all(Worker& worker) {
    decltype(untold_) untold;
    {
        const SpinLock::Guard guard(lock_);
        untold.swap(untold_);
    }
    waiting_.subtract(static_cast<std::uint32_t>(untold.size()));
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> credits;  // of senders at receivers
    for (const auto& [number, message, credit] : untold) {
        if (message.offer != 0) post_refusal(worker, address_of(message.source).node, message.offer);
        if (message.lent && message.lent->loan->borrow()) message.lent->left(worker);
        credits[{message.source, number}] += credit;
    }
    for (const auto& [ends, bytes] : credits)
        if (bytes != 0) give_credit(worker, address_of(ends.first), {node_.id(), ends.second}, bytes);
    return !untold.empty();
}

// --- large messages

std::uint64_t Endpoints::put(Transfer& transfer) {
    const SpinLock::Guard guard(lock_);
    transfers_.emplace(next_transfer_, &transfer);
    return next_transfer_++;
}

std::uint64_t Endpoints::put(Offer& offer) {
    const SpinLock::Guard guard(lock_);
    offers_.emplace(next_transfer_, &offer);
    return next_transfer_++;
}

void Endpoints::forget_transfer(std::uint64_t number) {
    const SpinLock::Guard guard(lock_);
    transfers_.erase(number);
}

void Endpoints::give_up(std::uint64_t number, Transfer& transfer) {
    std::shared_ptr<const void> in_use;
    {
        const SpinLock::Guard guard(lock_);
        transfers_.erase(number);
        if (transfer.missing != 0) given_up_.emplace(number, GivenUp{transfer.missing, transfer.size});
        in_use = std::move(transfer.in_use);
    }
    // No more parts get room. One that comes is whole soon: its sender writes it without waiting for others.
    for (Patience patience; in_use.use_count() > 1; patience.wait()) node_.backend().poll(node_.worker(0));
}

/// Of a transfer that was given up. Under the lock.
void Endpoints::drop_part(PartPlace place, std::uint64_t bytes) {
    const auto found = given_up_.find(place.transfer);
    if (found == given_up_.end()) throw MalformedMessage("it is part of no message that is awaited");
    GivenUp& message = found->second;
    if (bytes == 0)
        bytes = std::min(Endpoint::part_bytes, message.size - std::min(message.size, place.offset));
    if (bytes > message.missing) throw MalformedMessage("it is part of no message that is awaited");
    message.missing -= bytes;
    if (message.missing == 0) given_up_.erase(found);
}

Parcel Transfer::whole() {
    if (parts.size() == 1) return std::move(parts.front().data);
    std::uint64_t declared = 0;
    for (const Part& part : parts) declared += part.data.declared();
    auto all = std::make_shared<Bytes>(size - declared);
    for (const Part& part : parts) {
        const auto bytes = part.data.bytes();
        if (bytes.empty()) continue;
        if (part.offset + bytes.size() > all->size())
            throw MalformedMessage("bytes with content come after some that are only declared");
        std::memcpy(all->data() + part.offset, bytes.data(), bytes.size());
    }
    return Parcel(Body(std::move(all)), declared);
}

void Endpoints::on_accept(std::uint64_t offer, std::uint64_t transfer) {
    Offer* accepted = nullptr;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = offers_.find(offer);
        if (found == offers_.end()) throw MalformedMessage("it accepts no message of this node");
        accepted = found->second;
        offers_.erase(found);
    }
    accepted->transfer = transfer;
    accepted->complete(node_, node_.receiver());
}

NodeProgram::Room Endpoints::room(PartPlace place, std::uint64_t bytes) {
    const SpinLock::Guard guard(lock_);
    const auto found = transfers_.find(place.transfer);
    if (found == transfers_.end()) return {};
    Transfer& transfer = *found->second;
    if (transfer.place.empty() || bytes != transfer.bytes_at(place.offset)) return {};
    transfer.under_way.push_back(place.offset);
    return {transfer.place.subspan(place.offset, bytes), transfer.in_use};
}

void Endpoints::on_part(PartPlace place, Parcel data) {
    std::uint64_t bytes = data.size() + data.declared();
    Transfer* transfer = nullptr;
    std::shared_ptr<const void> in_use;  // until this returns, so that the receive is not given up meanwhile
    bool last = false;
    {
        const SpinLock::Guard guard(lock_);
        const auto found = transfers_.find(place.transfer);
        if (found == transfers_.end()) return drop_part(place, bytes);
        transfer = found->second;
        in_use = transfer->in_use;
        if (bytes == 0) {
            bytes = transfer->bytes_at(place.offset);
            if (std::erase(transfer->under_way, place.offset) != 1)
                throw MalformedMessage("a part of a message is empty");
        }
        if (bytes > transfer->missing || place.offset > transfer->size - bytes)
            throw MalformedMessage("it is not within its message");
        transfer->missing -= bytes;
        last = transfer->missing == 0;
    }
    // Handlers run one at a time, and the receive waits until the last has completed it.
    if (!transfer->place.empty()) {
        if (data.declared() > 0) throw MalformedMessage("bytes are only declared, and their place is not");
        if (data.size() > 0) std::memcpy(transfer->place.data() + place.offset, data.bytes().data(), bytes);
    } else {
        transfer->parts.push_back({place.offset, std::move(data)});
    }
    if (last) transfer->complete(node_, node_.receiver());
}

}  // namespace heddle::runtime
