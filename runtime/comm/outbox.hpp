// The active messages that a worker, or a node's receiver, sends: each has a handler's number and bytes.
// Small messages to the same node are sent together. Each worker uses only its own outbox.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/run/counters.hpp"

namespace heddle::runtime {

class Forwarding;
class Members;
class Node;

/// What a message makes happen where it arrives. Objects are static and register themselves before `main`.
/// A handler runs beside the node's workers, one at a time on a node, and never blocks.
class Handler {
public:
    using Run = void (*)(Node& node, NodeId from, std::span<const std::byte> message);

    /// `work`: the message may make work for the node it goes to, so the end of the run must wait for it.
    /// `carrier`: it carries a part of another message, or acknowledges some, so neither Ways nor Members
    /// knows of it.
    enum class Kind : std::uint8_t { work, control, carrier };

    /// What becomes of a message to a node that is leaving or has left: an error, nothing, or its own node
    /// handles it. For those that a node may send to any other at any time.
    enum class IfGone : std::uint8_t { error, drop, here };

    /// Where a body of so many bytes goes that such a message encloses (NodeProgram::room).
    using Room = NodeProgram::Room (*)(Node& node, std::span<const std::byte> message, std::uint64_t bytes);

    Handler(std::string handler_name, Kind kind, Run function, IfGone if_gone = IfGone::error,
            Room room_for = nullptr);
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

    static constexpr const char* plural = "message handlers";

    const std::string& name() const { return name_; }
    bool makes_work() const { return kind_ == Kind::work; }
    bool carries() const { return kind_ == Kind::carrier; }
    IfGone if_gone() const { return if_gone_; }
    Run run() const { return run_; }
    Room room() const { return room_; }  ///< null: in memory of the backend's
    std::uint16_t id() const { return id_; }

private:
    std::string name_;
    Kind kind_;
    IfGone if_gone_;
    Run run_;
    Room room_;
    mutable std::uint16_t id_ = 0;

    friend void number_handlers();
};

void number_handlers();

/// By number.
std::span<const Handler* const> all_handlers();

/// One active message inside a message between nodes: this header, then `bytes()` bytes.
class RecordHeader {
public:
    RecordHeader() = default;
    /// `bytes` is below 2^48.
    RecordHeader(std::uint16_t handler, std::uint64_t bytes);

    std::uint16_t handler() const { return static_cast<std::uint16_t>(word_); }
    std::uint64_t bytes() const { return word_ >> 16; }

private:
    std::uint64_t word_ = 0;
};

class Outbox {
public:
    /// `node`: the one of the context.
    Outbox(Context& context, Node& node);

    /// When a message leaves: `now`, or when enough have gathered or the context runs out of work.
    enum class Urgency : std::uint8_t { now, gathered };

    /// Sends `message`. The pieces are copied one after the other. For the context's own node the handler
    /// runs here and now (Node::deliver_here), whatever the urgency.
    void post(NodeId to, const Handler& handler, std::span<const std::byte> message,
              Urgency urgency = Urgency::now, std::span<const std::byte> more = {});

    /// A smaller body is copied into its message: that costs less than a frame of its own.
    static constexpr std::size_t body_bytes_min = 8 << 10;

    /// Sends `message` and what it encloses, now. The handler gets the body as the rest of its message where
    /// it is small, and else from Node::take_body.
    void post(NodeId to, const Handler& handler, std::span<const std::byte> message, Enclosure enclosure);

    /// The same with `more` after the message, to another node. It leaves after the messages in turn that
    /// this node sent before (Path::in_turn).
    void post_in_turn(NodeId to, const Handler& handler, std::span<const std::byte> message,
                      std::span<const std::byte> more, Enclosure enclosure = {});

    /// Sends `message` and `more` over that network, now and by itself, to a node that it joins with this
    /// one. The handler is a carrier.
    void post_over(Path path, NodeId to, const Handler& handler, std::span<const std::byte> message,
                   std::span<const std::byte> more, Enclosure enclosure);

    /// The last message to a node to which the way is closed (Members).
    void post_last(NodeId to, const Handler& handler, std::span<const std::byte> message);

    /// Counts bytes of the last message as data of the program's tasks.
    void count_data(std::uint64_t bytes) { add(data_bytes_, bytes); }

    /// Sends what has gathered.
    void flush();
    bool empty() const { return open_.empty(); }

    Context& context() const { return context_; }

    /// What was sent so far. May be asked by others: the receiver still answers requests when the run is
    /// over.
    Counters counters() const;

private:
    struct Gathering {
        NodeId to;
        Bytes bytes;
        std::uint32_t counted = 0;  ///< active messages in it that Ways counts
        bool in_turn = false;       ///< Path::in_turn
    };
    /// Gathering::to while its latest record is being written.
    static constexpr NodeId being_written = ~NodeId{0};

    std::vector<Gathering>::iterator gathering_for(NodeId to);
    Gathering take_gathering(NodeId to);
    Gathering take(std::vector<Gathering>::iterator found);
    void used_meanwhile(NodeId to, const std::byte* buffer);
    void post_here(const Handler& handler, std::span<const std::byte> message, Body body);
    void append(Gathering& gathering, const Handler& handler, std::span<const std::byte> message,
                std::span<const std::byte> more);
    void count(Gathering& gathering, const Handler& handler);
    bool may_begin(NodeId to);
    void post_to_gone(NodeId to, const Handler& handler, std::span<const std::byte> message,
                      Enclosure enclosure);
    void send(Gathering&& gathering, Enclosure&& enclosure = {});
    void hand_over(Path path, Gathering&& gathering, Enclosure&& enclosure);
    void note_sent(NodeId to, std::uint32_t counted);

    Context& context_;
    Node& node_;
    Forwarding* forwarding_;  ///< null: one network joins all nodes
    Members* members_;        ///< null: nodes neither join nor leave
    std::atomic<std::uint64_t>& work_sent_;
    std::uint32_t aggregate_bytes_;
    std::vector<Gathering> open_;  ///< few at a time: a linear search finds a node's

    /// Only the owner writes.
    using Count = std::atomic<std::uint64_t>;
    static void add(Count& count, std::uint64_t more) {
        count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    Count messages_{0}, active_messages_{0}, bytes_{0}, data_bytes_{0};
};

/// One active message as a whole message between nodes.
Bytes whole_message(const Handler& handler, std::span<const std::byte> message);

/// True where the message is whole records for the first `handlers` handlers, and nothing else.
bool well_formed(std::span<const std::byte> message, std::size_t handlers);

}  // namespace heddle::runtime
