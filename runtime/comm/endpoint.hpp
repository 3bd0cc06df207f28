// Messages between strands or tasks by address, with tags. A send names an endpoint. A receive waits for a
// message from a given sender or any, with a given tag or any.
//
//     Endpoint here(self.worker().node(), 7);
//     here.send(self, {other_node, 7}, tag, body_of(values));
//     const Incoming reply = here.receive(self, {.tag = tag});
//
// Order: a receive takes the oldest message that it matches, and a message goes to the oldest receive that
// matches it. Messages from one endpoint to another arrive in the order in which they were sent, whatever
// worker sends them and whatever way they take: they are numbered, and wait for those before them.
//
// Memory: a sender may have `window` bytes at one receiver that were not received; beyond that `send` waits.
// A receive that was begun and has its message counts as received if the window is nearly full otherwise.
// A message of more than `eager_max` bytes is only announced. Its data follow in parts when a receive matches
// it, and that may say where they go. Within a node data are not copied. Bytes that are only declared
// (Parcel) travel as all others do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/comm/parcel.hpp"
#include "runtime/core/caller.hpp"

namespace heddle::runtime {

class Endpoints;
struct BegunReceive;
class Loan;
struct Envelope;
struct Message;
struct Outbound;
struct Outgoing;

/// Where an endpoint is. Plain bytes, so it may travel itself.
struct Address {
    NodeId node = 0;
    std::uint32_t number = 0;

    bool operator==(const Address&) const = default;
};

/// Which messages a receive takes: nothing given means any.
struct Filter {
    std::optional<Address> from{};
    std::optional<std::uint64_t> tag{};
};

/// What a receive returns besides, of a message that was announced or lends its bytes within the node.
struct LargeIncoming {
    Parcel head;               ///< LargeMessage::head
    std::uint64_t placed = 0;  ///< bytes of data that are where the receiver said (Endpoint::Place)

    // --- of a strand of the same node
    std::shared_ptr<const Loan> loan{};
    std::span<const std::byte> borrowed{};  ///< what the loan has
    std::function<void(Worker&)> returned{};
    /// To be called when the receiver has read that: the sender waits for it.
    void give_back(Worker& worker) {
        loan.reset();
        returned(worker);
    }
};

/// What a receive returns.
struct Incoming {
    Address from;
    std::uint64_t tag = 0;
    Parcel data;
    std::unique_ptr<LargeIncoming> large{};
};

/// A message with a head and data. To another node: of more than Endpoint::eager_max bytes together. Within
/// the node: lent.
struct LargeMessage {
    std::span<const std::byte> head;  ///< a few bytes, which come with its announcement
    Parcel data{};
    /// Bytes that stay where they are, and do not change until the message has left. Then `data` has none
    /// with content.
    std::shared_ptr<Loan> lent{};
};

class Endpoint {
public:
    static constexpr std::uint64_t window = 256U << 10;
    static constexpr std::uint64_t eager_max = 32U << 10;
    static constexpr std::uint64_t part_bytes = 1U << 20;
    static constexpr std::uint64_t head_max = 256;  ///< of LargeMessage::head

    /// Numbers from here on are given by the node; a program may choose smaller ones.
    static constexpr std::uint32_t first_given = 1U << 31;
    /// From here on: those of endpoints for which a late message is an error.
    static constexpr std::uint32_t first_strict = 3'000'000'000;

    /// What becomes of a message that comes when the endpoint is closed. The sender of one that is dropped
    /// goes on as if it had been received.
    enum class Late : std::uint8_t { dropped, error };

    /// Of a number that the program chose.
    enum class Number : std::uint8_t {
        again,  ///< the next endpoint with that number goes on where this one was closed
        /// When it is closed, all messages for it have come, and its own are received. So nothing of it is
        /// kept. If the number is used again, both ends begin at zero. After an error, or if it gives up a
        /// message, it is as `again`.
        once
    };

    /// With a number that was never used on this node.
    explicit Endpoint(Node& node, Late late = Late::dropped);
    /// With a number that others know beforehand: messages may have come already. `its_window`: what it may
    /// have under way to each receiver, at least `window`. Throws Error if an endpoint has that number. If
    /// one with that number was closed, this one goes on with its messages: it receives those that came
    /// later, and its own follow those that the other has sent.
    Endpoint(Node& node, std::uint32_t number, std::uint64_t its_window = window, Number use = Number::again);
    /// Messages that were not received are dropped: their senders go on as if they had been received, and
    /// large data are not sent. No strand may be waiting at it, and each begun receive must have gone.
    ~Endpoint();
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    Address address() const;

    /// Returns when `data` may be forgotten: the receiver need not have received it. Waits for room there,
    /// and where it is large, for the receive.
    void send(Caller caller, Address to, std::uint64_t tag, Parcel data);
    void send(Caller caller, Address to, std::uint64_t tag, Body data) {
        send(caller, to, tag, Parcel(std::move(data)));
    }

    /// How a message to another node uses the link of its node.
    enum class Sharing : std::uint8_t {
        together,  ///< it shares the link with all that the node sends meanwhile
        in_turn    ///< it leaves after the messages in turn that the node sent before (Path::in_turn)
    };

    /// Sends the message at once, if it is small or stays on the node, and there is room for it. Else it
    /// returns false and has done nothing.
    bool send_now(Worker& worker, Address to, std::uint64_t tag, Parcel& data,
                  Sharing sharing = Sharing::together);
    /// The same for bytes, which are copied.
    bool send_now(Worker& worker, Address to, std::uint64_t tag, std::span<const std::byte> bytes);

    /// Returns at once. Sends the message now, if it is small and there is room for it. Else a strand of its
    /// own does, in its place in the order; a large message is announced now, if there is room. Then calls
    /// `left`. The endpoint must live until then.
    void start_send(Worker& worker, Address to, std::uint64_t tag, Parcel data,
                    std::function<void(Worker&)> left, Sharing sharing = Sharing::together);
    void start_send(Worker& worker, Address to, std::uint64_t tag, LargeMessage message,
                    std::function<void(Worker&)> left, Sharing sharing = Sharing::together);

    /// Waits for a message.
    Incoming receive(Caller caller, const Filter& filter = {});

    /// A receive that is begun, and ended later. If it goes before, it is given up, and so is its message if
    /// that has come: the sender goes on as if it had been received. It is told so by the next worker of this
    /// node that receives or looks for work, because what goes does not know its worker.
    class Receive {
    public:
        Receive();
        ~Receive();
        Receive(Receive&& other) noexcept;
        Receive& operator=(Receive&& other) noexcept;

    private:
        friend class Endpoint;
        std::unique_ptr<BegunReceive> begun_;
        bool ended_ = false;
    };
    /// Takes its place among the receives now. `ended`: one that has ended, whose memory it uses.
    Receive begin_receive(Worker& worker, const Filter& filter = {}, Receive ended = {});
    /// The same. `receive`: one that never began, or has ended.
    void begin_receive(Worker& worker, Receive& receive, const Filter& filter);
    /// Whether `end_receive` returns at once. The data of a large message begin to come when this is asked.
    bool has_come(Worker& worker, Receive& receive);
    /// Says where the `bytes` bytes of an announced message go: to as many, or with none to memory of their
    /// own. If it throws, the message stays with its sender until the receive is ended again or given up.
    using Place = std::function<std::span<std::byte>(const Parcel& head, std::uint64_t bytes)>;
    /// Waits for its message.
    Incoming end_receive(Caller caller, Receive& receive, const Place& place = {});

    /// A message that a receive would take at once, without taking it.
    struct Waiting {
        Address from;
        std::uint64_t tag = 0;
        std::uint64_t bytes = 0;
    };
    std::optional<Waiting> probe(const Filter& filter = {});

private:
    friend class Endpoints;
    friend struct Outbound;
    struct State;

    struct Passage;
    bool take_room(Worker& worker, Address to, Envelope& envelope, Passage& passage);
    template <class Fill>
    void arrive_here(Worker& worker, Passage& passage, const Envelope& envelope, const Fill& fill);
    void find_there(Passage& passage);
    void begin_send(Outgoing& send, Address to, std::uint64_t tag, Parcel data);
    void end_send(const Caller& caller, Outgoing& send);
    Passage passage_to(Address to);
    void pass_on(Worker& worker, Passage& passage, const Envelope& envelope, Parcel& data, Sharing sharing);
    void announce(Worker& worker, Outgoing& send);
    void lend_here(Worker& worker, Outgoing& send);
    void start_strand(Worker& worker, std::shared_ptr<Outgoing> going, std::function<void(Worker&)> left);
    void send_in_parts(const Caller& caller, Outgoing& send);
    static void post_parts(Worker& worker, const Outgoing& send, const SentBody& content);
    bool begin(BegunReceive& receive);
    void fetch(Worker& worker, BegunReceive& receive, std::span<std::byte> place);
    Incoming end(const Caller& caller, BegunReceive& receive, const Place& place);
    void take_announced(const Caller& caller, BegunReceive& receive, const Place& place, Incoming& incoming);
    void give_up(BegunReceive& receive);

    Endpoints& endpoints_;
    std::shared_ptr<State> state_;
};

}  // namespace heddle::runtime
