// The endpoints of one node. It also stores messages that came before their endpoint was made, and large
// transfers under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/comm/credit.hpp"
#include "runtime/comm/endpoint.hpp"
#include "runtime/comm/endpoint_messages.hpp"
#include "runtime/comm/loan.hpp"
#include "runtime/comm/match_table.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

inline std::uint64_t key_of(Address address) {
    return std::uint64_t{address.node} << 32U | address.number;
}
inline Address address_of(std::uint64_t key) {
    return {static_cast<NodeId>(key >> 32U), static_cast<std::uint32_t>(key)};
}

/// What is said of a message, beside its data.
struct Envelope {
    std::uint64_t source = 0;
    std::uint64_t tag = 0;
    std::uint64_t sequence = 0;  ///< among the messages from one endpoint to another
    std::uint64_t bytes = 0;     ///< of the data, which may be still to come
    std::uint64_t offer = 0;     ///< the sender's number for a large message; 0: the data come with it
};

/// What a message within the node lends.
struct LentHere {
    Parcel head;
    std::shared_ptr<Loan> loan;
    std::function<void(Worker&)> left;
};

/// A message at its receiver, or the announcement of a large one.
struct Message : Envelope {
    Message() = default;
    /// `fill(*this)` writes the rest.
    template <class Fill>
    Message(const Envelope& envelope, const Fill& fill) : Envelope(envelope) {
        fill(*this);
    }

    Parcel data;
    std::unique_ptr<LentHere> lent;
};

/// One that waits for its receive.
struct Arrived final : Matched {
    explicit Arrived(Message&& its_message)
        : Matched(its_message.source, its_message.tag), message(std::move(its_message)) {}

    Message message;
};

/// A receive that waits.
struct Posted final : Matched, Event {
    std::string what() const override;

    Filter filter;
    Message message;           ///< once it has one
    bool has_it = false;       ///< under the endpoint's lock
    bool ends_later = false;   ///< it was begun, and its message is not received before it is ended
    std::uint64_t credit = 0;  ///< what the message's sender is to be told
    Posted* next_woken = nullptr;

    using Event::set_one_thread;
};

/// Receives that have got their message, in this order.
class Woken {
public:
    void add(Posted& receive) {
        (last_ ? last_->next_woken : first_) = &receive;
        last_ = &receive;
    }
    /// Each may be gone after its call.
    template <class Code>
    void each(const Code& code) const {
        for (Posted* receive = first_; receive;) code(*std::exchange(receive, receive->next_woken));
    }

private:
    Posted* first_ = nullptr;
    Posted* last_ = nullptr;
};

/// The data of a large message on their way to a receive.
struct Transfer final : Event {
    std::string what() const override { return "the parts of a large message"; }

    std::uint64_t size = 0;
    std::uint64_t missing = 0;
    struct Part {
        std::uint64_t offset;
        Parcel data;
    };
    std::vector<Part> parts;

    // --- where the receive has said where they go
    std::span<std::byte> place;
    std::vector<std::uint64_t> under_way;  ///< offsets of parts that the backend writes there
    /// All that write there keep it.
    std::shared_ptr<const void> in_use = std::make_shared<char>();

    /// The message, once nothing is missing. Without `place`.
    Parcel whole();
    std::uint64_t bytes_at(std::uint64_t offset) const {
        return std::min(Endpoint::part_bytes, size - std::min(size, offset));
    }
};

/// A receive between its beginning and its end.
struct BegunReceive {
    /// Written out, or gcc clears all of it each time, also the room for a transfer.
    BegunReceive() {}  // NOLINT(modernize-use-equals-default)

    /// One that has ended begins once more.
    void begin_again() {
        posted.reset();
        posted.has_it = false;
        posted.credit = 0;
        posted.next_woken = nullptr;
        was_here = false;
    }

    Endpoint* at = nullptr;
    Posted posted;
    bool was_here = false;             ///< its message had come before
    std::optional<Transfer> transfer;  ///< of a large message, once its data were asked for
    std::uint64_t number = 0;          ///< of the transfer
};

/// A large message that was announced.
struct Offer final : Event {
    std::string what() const override;

    Address to;
    std::uint64_t tag = 0;
    std::uint64_t transfer = 0;  ///< the receiver's number, once it has accepted; 0: no receive takes it
};

/// A sender that waits for room at a receiver.
struct Room final : Event {
    std::string what() const override;

    Address at;
    std::uint64_t cost = 0;
};

/// A message between its beginning and the moment when it leaves.
struct Outgoing {
    Envelope envelope;
    Parcel data;
    Parcel head;
    std::shared_ptr<Loan> lent;
    std::function<void(Worker&)> left;  ///< of what is lent within the node
    Room room;
    Offer offer;
    bool has_room = false;
    bool large = false;  ///< it is announced, and its data are sent when a receive has accepted it
    bool announced = false;
    Endpoint::Sharing sharing = Endpoint::Sharing::together;
};

/// A value for each other endpoint, made when it is first asked for. Most messages go where the last one
/// went.
template <class Value>
class ByEndpoint {
public:
    Value& operator[](std::uint64_t key) {
        if (last_ && key == key_) return *last_;
        key_ = key;
        last_ = &values_[key];
        return *last_;
    }
    /// In any order, which the caller must not depend on.
    template <class Code>
    void each(const Code& code) {
        for (auto& [key, value] : values_) code(value);
    }

private:
    std::unordered_map<std::uint64_t, Value> values_;  // what is in it does not move
    std::uint64_t key_ = 0;
    Value* last_ = nullptr;
};

/// Of one sender, at its receiver.
struct Inbound {
    std::uint64_t expected = 0;  ///< sequence of the next message from that sender
    std::map<std::uint64_t, Message> early;
    Credit credit;
};

/// Of one receiver, at its sender.
struct Outbound {
    std::uint64_t next = 0;    ///< sequence
    std::uint64_t bytes = 0;   ///< of the window: sent, and not known to be received
    std::list<Room*> waiting;  // an empty one has no memory of its own: a sender may have many receivers
    /// The receiver, once it was found open on this node. Invariant: while this endpoint is open, it is
    /// set once and not changed, so a sender that has read it under the lock may use it without. The two
    /// may remember each other: Endpoints::close forgets it.
    std::shared_ptr<Endpoint::State> there;

    bool has_room(std::uint64_t cost, std::uint64_t window_bytes) const {
        return bytes == 0 || bytes + cost <= window_bytes;
    }
    /// Gives the room, if no other waits and there is as much.
    bool take(std::uint64_t cost, std::uint64_t window_bytes) {
        if (!waiting.empty() || !has_room(cost, window_bytes)) return false;
        bytes += cost;
        return true;
    }
    /// `cost` was received. Adds those to `given` that have room now.
    void give_back(std::uint64_t cost, std::uint64_t window_bytes, std::vector<Room*>& given) {
        bytes -= std::min(cost, bytes);
        for (; !waiting.empty() && has_room(waiting.front()->cost, window_bytes); waiting.pop_front()) {
            bytes += waiting.front()->cost;
            given.push_back(waiting.front());
        }
    }
};

/// What an endpoint and each other one have exchanged.
struct Exchanged {
    ByEndpoint<Inbound> inbound;    ///< senders
    ByEndpoint<Outbound> outbound;  ///< receivers
};

/// As a work source it has messages that were given up.
class Endpoints final : public State<Node>, public WorkSource {
public:
    explicit Endpoints(Node& node) : node_(node) { node.sources().add(*this); }
    ~Endpoints() override = default;

    Node& node() const { return node_; }
    bool keeps_node() const override { return true; }

    /// Never given before.
    std::uint32_t new_number(Endpoint::Late late);
    /// Throws Error if another one has its number.
    void open(Endpoint& endpoint);
    /// Gives up the messages that wait there.
    void close(Endpoint& endpoint);

    /// A message of another node for endpoint `to` of this one, which `fill(message)` fills where it goes. In
    /// handlers.
    template <class Fill>
    void arrive(std::uint32_t to, const Envelope& envelope, const Fill& fill);
    /// The same by any context of the node, which has not found that endpoint open.
    void arrive_somewhere(Context& caller, std::uint32_t to, Message&& message);
    /// False if the endpoint is closed: then nothing has been done.
    template <class Fill>
    bool arrive_at(Context& caller, Endpoint::State& receiver, const Envelope& envelope, const Fill& fill);
    /// The open endpoint of that number; null: there is none.
    std::shared_ptr<Endpoint::State> open_at(std::uint32_t number);
    /// A message for an endpoint that was not opened when it came, or was used once and closed.
    struct Early {
        std::uint32_t number = 0;  ///< of the endpoint
        Address from;
        std::uint64_t tag = 0;
    };
    /// The first one for the least of the numbers from `first` to before `end` that have one.
    std::optional<Early> early_among(std::uint32_t first, std::uint32_t end);

    std::uint64_t put(Transfer& transfer);
    std::uint64_t put(Offer& offer);
    void forget_transfer(std::uint64_t number);
    /// What is still to come of it is dropped. Returns when none of it is being written to its place.
    void give_up(std::uint64_t number, Transfer& transfer);

    /// Endpoint `receiver`, which may be closed, gives up a message. Its sender may wait for room, or for an
    /// answer. The caller does not know its worker, so the sender is told by the next worker of the node that
    /// looks for work or receives. `credit`: what the sender is told of its window; else all that the message
    /// takes.
    void give_up(std::uint32_t receiver, Message&& message);
    void give_up(std::uint32_t receiver, Message&& message, std::uint64_t credit);
    /// A receive that was begun at endpoint `receiver` has got its message. If the sender is to be told, it
    /// is told in the same way, and this returns true.
    bool tell_early(std::uint32_t receiver, Posted& receive) {
        if (!receive.ends_later || receive.credit == 0) [[likely]]
            return false;
        put_early_credit(receiver, receive);
        return true;
    }
    /// Tells the senders of all that were given up. A receive does that before it waits, or says that its
    /// message has not come: a strand that asks again and again leaves its worker to no other work.
    void tell_given_up(Worker& worker) {
        if (may_wait()) [[unlikely]]
            tell_all(worker);
    }
    bool run(Worker& worker, Slot* head) override;
    /// `receiver` has received so many bytes of the sender's window.
    void give_credit(Worker& worker, Address sender, Address receiver, std::uint64_t bytes);

    // --- handlers
    /// `transfer`: 0 if no receive takes it.
    void on_accept(std::uint64_t offer, std::uint64_t transfer);
    /// `data`: nothing, if the part is where `room` has said.
    void on_part(PartPlace place, Parcel data);
    /// A part of so many bytes is about to come.
    NodeProgram::Room room(PartPlace place, std::uint64_t bytes);
    void on_credit(Context& caller, std::uint32_t sender, Address receiver, std::uint64_t bytes);

private:
    bool tell_all(Worker& worker);
    void put_untold(std::uint32_t receiver, Message&& message);
    void put_untold(std::uint32_t receiver, Message&& message, std::uint64_t credit);
    void put_early_credit(std::uint32_t receiver, Posted& receive);
    bool arrive_closed(std::uint32_t to, Message&& message);
    void drop_part(PartPlace place, std::uint64_t bytes);

    Node& node_;
    std::shared_ptr<Endpoint::State> latest_;  ///< that a handler has found last. Handlers' own
    alignas(64) SpinLock lock_;                ///< over all below
    std::unordered_map<std::uint32_t, std::shared_ptr<Endpoint::State>> open_;
    std::unordered_map<std::uint32_t, std::vector<Message>> early_;  ///< for endpoints to come
    /// Of closed endpoints whose numbers a program chose, to be used again. The next one with that number
    /// goes on with it: its peers may live on, and they number their messages and count what is under way.
    std::unordered_map<std::uint32_t, Exchanged> closed_;
    std::unordered_map<std::uint64_t, Transfer*> transfers_;
    std::unordered_map<std::uint64_t, Offer*> offers_;
    struct GivenUp {
        std::uint64_t missing;
        std::uint64_t size;
    };
    std::unordered_map<std::uint64_t, GivenUp> given_up_;  ///< transfers
    /// What a receiver gave up, or only the source of what its begun receives have.
    struct Untold {
        std::uint32_t receiver;
        Message message;
        std::uint64_t credit;
    };
    std::vector<Untold> untold_;
    std::uint32_t next_number_ = Endpoint::first_given;
    std::uint32_t next_strict_ = Endpoint::first_strict;
    std::uint64_t next_transfer_ = 1;
};

/// What an endpoint keeps. Those that send to it within the node remember it, also when it is closed.
struct Endpoint::State {
    State(std::uint32_t its_number, std::uint64_t its_window, bool is_shared, bool is_used_once = false)
        : number(its_number), window(its_window), shared(is_shared), once(is_used_once) {}

    /// `message` waits for its receive.
    void put(Message&& message);
    /// The oldest that matches, or null; it is taken out, and `put_away` has it next.
    Arrived* take(const Match& match) {
        Matched* const found = messages.find(match);
        if (found) messages.remove(*found);
        return static_cast<Arrived*>(found);
    }
    void put_away(Arrived& taken);

    /// Holds the lock for a scope.
    struct Guard : SpinLock::Guard {
        explicit Guard(State& state) : SpinLock::Guard(state.lock, state.shared) {}
    };

    /// Puts messages in their order, and gives the next ones to receives, which it adds to `woken`. One that
    /// is awaited is written to its receive, and nowhere else before. False if it is to be given up, because
    /// a later one was: then nothing has been done.
    template <class Fill>
    bool arrive(const Envelope& envelope, const Fill& fill, Woken& woken) {
        Inbound& from = exchanged.inbound[envelope.source];
        if (envelope.sequence != from.expected) [[unlikely]] {
            if (envelope.sequence < from.expected) return false;
            put_early(from, Message(envelope, fill));
            return true;
        }
        deliver(from, envelope, fill, woken);
        if (!from.early.empty()) [[unlikely]]
            deliver_early(from, woken);
        return true;
    }
    template <class Fill>
    void deliver(Inbound& from, const Envelope& envelope, const Fill& fill, Woken& woken) {
        ++from.expected;
        Matched* const receive = receives.take(envelope.source, envelope.tag);
        if (!receive) return put(Message(envelope, fill));
        auto& posted = *static_cast<Posted*>(receive);
        give(from, envelope, fill, posted);
        woken.add(posted);
    }
    static void put_early(Inbound& from, Message&& message);
    void deliver_early(Inbound& from, Woken& woken);
    /// `receive` gets its message.
    template <class Fill>
    static void give(Inbound& from, const Envelope& envelope, const Fill& fill, Posted& receive) {
        // An announced message is received when its data are, or when a receive that was begun is ended.
        if (receive.ends_later) {
            receive.credit = from.credit.hold(cost_of(envelope.bytes));
        } else if (envelope.offer == 0) {
            receive.credit = from.credit.receive(cost_of(envelope.bytes));
        }
        static_cast<Envelope&>(receive.message) = envelope;
        fill(receive.message);
        receive.has_it = true;
    }
    /// The messages that no receive has taken, oldest first, and then those that wait for earlier ones. From
    /// then on those earlier ones are given up when they come.
    std::vector<Message> take_all();
    /// It is closed, and no context uses what it has of others. Those that remember it keep little.
    void forget_others() {
        spare.clear();
        exchanged = {};
    }

    std::uint32_t number;
    std::uint64_t window;
    const bool shared;  ///< several threads use it: not Node::one_thread
    const bool once;    ///< Number::once
    SpinLock lock;      ///< over all below
    bool open = true;   ///< messages may arrive
    Messages messages;
    Receives receives;
    std::vector<std::unique_ptr<Arrived>> spare;  ///< for messages to come
    Exchanged exchanged;
};

/// Fills a message by one that has been made.
inline auto moved_from(Message& made) {
    return [&made](Message& message) {
        message.data = std::move(made.data);
        message.lent = std::move(made.lent);
    };
}

// A receive that is woken stays until then, so it is woken after the lock.
template <class Fill>
bool Endpoints::arrive_at(Context& caller, Endpoint::State& receiver, const Envelope& envelope,
                          const Fill& fill) {
    Woken woken;
    bool arrives = false;
    {
        const Endpoint::State::Guard guard(receiver);
        if (!receiver.open) [[unlikely]]
            return false;
        arrives = receiver.arrive(envelope, fill, woken);
    }
    if (!arrives) [[unlikely]] {
        give_up(receiver.number, Message(envelope, fill));
        node_.wake_one(caller);
        return true;
    }
    woken.each([&](Posted& receive) {
        if (tell_early(receiver.number, receive)) node_.wake_one(caller);
        receive.complete(node_, caller);
    });
    return true;
}

template <class Fill>
void Endpoints::arrive(std::uint32_t to, const Envelope& envelope, const Fill& fill) {
    if (!latest_ || latest_->number != to) latest_ = open_at(to);
    if (latest_ && arrive_at(node_.receiver(), *latest_, envelope, fill)) [[likely]]
        return;
    latest_.reset();
    arrive_somewhere(node_.receiver(), to, Message(envelope, fill));
}

}  // namespace heddle::runtime
