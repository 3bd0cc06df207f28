// The endpoints of one node. It also stores messages that came before their endpoint was made, and large
// transfers under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

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
struct Arrived : Matched {
    Arrived(const Envelope& envelope, Parcel content)
        : Matched(envelope.source, envelope.tag),
          data(std::move(content)),
          sequence(envelope.sequence),
          bytes(envelope.bytes),
          offer(envelope.offer) {}

    Parcel data;
    std::uint64_t sequence;
    std::uint64_t bytes;
    std::uint64_t offer;
    std::unique_ptr<LentHere> lent;
};
using ArrivedPointer = std::unique_ptr<Arrived>;

/// What a message takes of the window.
inline std::uint64_t cost_of(std::uint64_t bytes) {
    constexpr std::uint64_t header = 64;
    return std::min(bytes, Endpoint::eager_max) + header;
}

/// A receive that waits.
struct Posted final : Matched, Event {
    std::string what() const override;

    Filter filter;
    ArrivedPointer message;
    bool ends_later = false;   ///< it was begun, and its message is not received before it is ended
    std::uint64_t credit = 0;  ///< of the window, to be told to the message's sender
    Posted* next_woken = nullptr;
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
    std::map<std::uint64_t, ArrivedPointer> early;
    std::uint64_t received = 0;  ///< of the window, since the sender was told
};

/// Of one receiver, at its sender.
struct Outbound {
    std::uint64_t next = 0;   ///< sequence
    std::uint64_t bytes = 0;  ///< of the window: sent, and not known to be received
    std::deque<Room*> waiting;

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

    /// A message for endpoint `to` of this node. By any context of it.
    void arrive(Context& caller, std::uint32_t to, ArrivedPointer message);

    std::uint64_t put(Transfer& transfer);
    std::uint64_t put(Offer& offer);
    void forget_transfer(std::uint64_t number);
    /// What is still to come of it is dropped. Returns when none of it is being written to its place.
    void give_up(std::uint64_t number, Transfer& transfer);

    /// Endpoint `receiver`, which may be closed, gives up a message. Its sender may wait for room, or for an
    /// answer. The caller does not know its worker, so the sender is told by the next worker of the node that
    /// looks for work or receives.
    void give_up(std::uint32_t receiver, ArrivedPointer message);
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
    void put_untold(std::uint32_t receiver, ArrivedPointer message);
    bool arrive_closed(std::uint32_t to, ArrivedPointer message);
    void drop_part(PartPlace place, std::uint64_t bytes);

    Node& node_;
    /// Over all below. Each arrival writes it, and each receive reads whether work waits (`tell_given_up`).
    alignas(64) SpinLock lock_;
    std::unordered_map<std::uint32_t, Endpoint*> open_;
    std::uint32_t latest_number_ = 0;  ///< the last that was found, and its endpoint; null: none
    Endpoint* latest_ = nullptr;
    std::unordered_map<std::uint32_t, std::vector<ArrivedPointer>> early_;  ///< for endpoints to come
    /// Of closed endpoints whose numbers a program chose. The next one with that number goes on with it: its
    /// peers may live on, and they number their messages and count what is under way.
    std::unordered_map<std::uint32_t, Exchanged> closed_;
    std::unordered_map<std::uint64_t, Transfer*> transfers_;
    std::unordered_map<std::uint64_t, Offer*> offers_;
    struct GivenUp {
        std::uint64_t missing;
        std::uint64_t size;
    };
    std::unordered_map<std::uint64_t, GivenUp> given_up_;           ///< transfers
    std::vector<std::pair<std::uint32_t, ArrivedPointer>> untold_;  ///< receivers, and what they gave up
    std::uint32_t next_number_ = Endpoint::first_given;
    std::uint32_t next_strict_ = Endpoint::first_strict;
    std::uint64_t next_transfer_ = 1;
};

/// What an endpoint keeps.
struct Endpoint::State {
    State(std::uint32_t its_number, std::uint64_t its_window) : number(its_number), window(its_window) {}

    /// Puts messages in their order, and gives the next ones to receives, which it adds to `woken`. Returns
    /// the message if it is to be given up, because a later one was.
    ArrivedPointer arrive(ArrivedPointer message, Woken& woken);
    void deliver(ArrivedPointer message, Woken& woken);
    /// `receive` gets its message.
    void give(ArrivedPointer message, Posted& receive);
    /// So much of a sender's window is free again. Returns what the sender is to be told; mostly 0, because
    /// it is told of several messages together.
    std::uint64_t free_window(std::uint64_t source, std::uint64_t cost);
    /// The messages that no receive has taken, oldest first, and then those that wait for earlier ones. From
    /// then on those earlier ones are given up when they come.
    std::vector<ArrivedPointer> take_all();

    std::uint32_t number;
    std::uint64_t window;
    SpinLock lock;  ///< over all below
    Messages messages;
    Receives receives;
    Exchanged exchanged;
};

}  // namespace heddle::runtime
