// Carries messages between two nodes that no network joins, and large ones that use several networks at once.
// The sender divides them into fragments, gateways pass these on, and the receiver puts them together.
// base/network_routes.hpp chooses the way.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::runtime {

class Node;
class Outbox;

/// What each fragment says of its message, which is its bytes, its body and its padding, one after the other.
struct FragmentHeader {
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t number = 0;  ///< of the message, among those between the two nodes
    std::uint64_t message_bytes = 0;
    std::uint64_t body_bytes = 0;
    std::uint64_t padding = 0;
    std::uint64_t offset = 0;        ///< of the fragment in the message
    std::uint64_t padding_here = 0;  ///< of it in this fragment

    std::uint64_t size() const { return message_bytes + body_bytes + padding; }
};

/// Order: all messages from one node to another arrive in the order in which they were sent, whatever way
/// each fragment takes.
///
/// Memory: of the fragments from one node to another at most NetworkRoutes::Settings::window_bytes are under
/// way, because the receiver acknowledges what has arrived. The rest waits at the sender, where a body is
/// shared and not copied. So a gateway never holds more than a window for each pair of nodes, but for what a
/// node sends when it leaves.
class Forwarding {
public:
    /// The node's topology has routes.
    explicit Forwarding(Node& node);

    /// Whether messages to `to` go this way: over gateways, or over several networks, whose messages would
    /// overtake each other.
    bool takes(NodeId to) const {
        return !routes_.joined(id_, to) ||
               (routes_.settings().all_rails && routes_.between(id_, to).size() > 1);
    }

    /// For other messages.
    Path path(NodeId to) const { return {routes_.between(id_, to).front(), false}; }

    void send(Outbox& outbox, NodeId to, Bytes message, Enclosure enclosure);

    // --- in a handler
    /// Sends the fragment on, or adds it to its message. `small`: its content, if it has no body.
    void arrive(const FragmentHeader& header, std::span<const std::byte> small, Body body);
    /// `to` has received so many bytes from `from`.
    void acknowledge(NodeId from, NodeId to, std::uint64_t bytes);

    // --- where nodes leave (runtime/run/members.hpp)
    /// This node leaves, so what waits for acknowledgments is sent without them, and all that follows.
    void open_windows(Outbox& outbox);
    /// No acknowledgment to that node follows. Returns how many there were.
    std::uint64_t end_acknowledgments(NodeId to);
    /// How many have come.
    std::uint64_t acknowledgments_of(NodeId node);

private:
    struct Whole {
        Bytes message;
        Enclosure enclosure;
    };
    struct Waiting {
        FragmentHeader next;  ///< the fragment that leaves next
        std::shared_ptr<const Whole> whole;
    };
    /// To one node.
    struct Flow {
        SpinLock lock;
        std::uint64_t next_number = 0;
        std::uint64_t under_way = 0;  ///< bytes that the receiver has not acknowledged
        std::deque<Waiting> waiting;
        std::uint64_t acknowledgments_sent = 0;  ///< to that node, and those that have come from it
        std::uint64_t acknowledgments_received = 0;
        bool silent = false;  ///< none is sent any more
    };
    struct Partial {
        FragmentHeader header;
        std::uint64_t arrived = 0;
        Bytes message;
        Body body;
    };
    /// From one node. Handlers only use it.
    struct Source {
        std::uint64_t next_number = 0;
        std::uint64_t not_acknowledged = 0;
        std::map<std::uint64_t, Partial> partial;
    };
    struct Rails {
        std::vector<double> seconds;  ///< that each network has been given work for
    };

    Flow& flow_to(NodeId node);
    bool begin_acknowledgment(NodeId to);
    void send_what_may(Outbox& outbox, Flow& flow);
    void post(Outbox& outbox, const FragmentHeader& header, std::span<const std::byte> small, Body body);
    NetworkId rail_to(NodeId neighbour, std::uint64_t bytes);
    void add(Source& source, const FragmentHeader& header, std::span<const std::byte> content);
    void deliver_complete(NodeId from, Source& source);

    Node& node_;
    NodeId id_;
    const NetworkRoutes& routes_;
    /// A receiver acknowledges when so many bytes have come. A sender waits only if more than a window less a
    /// fragment is not acknowledged, so it never waits for an acknowledgment that is not sent.
    std::uint64_t acknowledged_bytes_;
    std::atomic<bool> departs_{false};
    SpinLock lock_;  ///< over the two below; what is in `flows_` does not move
    std::map<NodeId, Flow> flows_;
    std::map<NodeId, Rails> rails_;
    std::map<NodeId, Source> sources_;
};

}  // namespace heddle::runtime
