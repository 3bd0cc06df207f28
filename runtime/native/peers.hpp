// The connections of this node to other nodes, one for each network that it shares with another. It makes
// them, and dispatches each received frame. Derived classes decide which threads send and receive: threads of
// their own (mesh.cpp), or workers (polled_mesh.cpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/native/flow.hpp"
#include "runtime/native/link.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/mesh.hpp"
#include "runtime/native/rendezvous.hpp"

namespace heddle::native {

/// What a node is to this one. It begins as `none` and only goes on in this order.
enum class Presence : std::uint8_t {
    none,      ///< has not come
    arriving,  ///< connected. If it ends now, the run goes on without it
    member,    ///< takes part: if it ends without a goodbye, it is lost
    gone       ///< has said goodbye, or ended while it arrived
};

/// How many files the connections of a node to all others hold open, at most.
std::size_t files_of_links(const std::vector<MeshNetwork>& networks, NodeId nodes);

struct Peers {
    /// How often to look for hosts that are dead.
    static constexpr std::chrono::seconds look_period{1};
    /// How long a node that leaves waits for the others' goodbyes.
    static constexpr std::chrono::seconds goodbye_max{5};

    /// How long to wait at the end until the others have all that was sent.
    static constexpr std::chrono::seconds settle_max{10};

    /// Meets the other nodes, and connects to each. Throws Error.
    explicit Peers(const MeshOptions& given);
    /// What derives ends the admitting first.
    virtual ~Peers() = default;
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    // --- for those that derive
    /// Queues a frame, and sees to it that it is written. Any thread.
    virtual void post(Link& link, FrameKind kind, runtime::Bytes&& payload, runtime::SentBody&& body) = 0;

    /// Returns when what was posted has been written, or at `deadline`. The thread that receives.
    virtual void write_all_until(Deadline deadline) = 0;

    /// A link that was blocked may have room again. The thread that receives.
    virtual void room(Link& /*link*/) {}

    /// A frame has come that is no message, or a node was lost: a thread may be waiting for that.
    virtual void news() {}

    /// Before threads learn of a new link, by `link`. Not while this is made.
    virtual void prepare(Link& /*link*/) {}

    /// From now on this thread, the one that receives, reads from the link too.
    virtual void take_up(Link& link) = 0;

    /// Makes the thread that receives call `run_calls` soon. Any thread.
    virtual void wake_receiver() = 0;

    // --- the thread that runs the node
    /// Nodes that join are accepted from now on.
    void begin_admitting();

    /// They are refused from now on.
    void end_admitting();

    /// Says goodbye to all.
    void say_goodbye();

    // --- any thread
    /// The links' places: of each node, network by network.
    std::size_t places() const { return options.networks.size() * std::size_t{nodes}; }
    std::size_t place(NodeId node, NetworkId network) const { return network * network_stride_ + node; }
    std::size_t place_of(const Link& link) const { return place(link.peer(), link.network()); }

    /// Null where that node has not come, or the network does not join it with this one. Once a link is
    /// there, it stays, though it may be closed. Invariant: a thread sends to a node only after that node's
    /// first message, or after the start; the link was published before.
    Link* link(NodeId node, NetworkId network) const {
        return links_[place(node, network)].load(std::memory_order_acquire);
    }
    /// Over the first network that joins the two. Null: that node was about to join and was not accepted, so
    /// it ends by itself, whatever it is told.
    Link* any_link(NodeId node) const;
    Flow& flow(NodeId node, NetworkId network) const { return *flows_[place(node, network)]; }

    /// Calls `code` with each link that there is.
    template <class Code>
    void for_each_link(const Code& code) const {
        for (const auto& entry : links_)
            if (Link* const link = entry.load(std::memory_order_acquire)) code(*link);
    }

    /// Nodes that have not said goodbye, of those that take part.
    bool any_member() const;
    /// Of the node at the other end.
    Presence presence(const Link& link) const {
        return presence_[place_of(link)].load(std::memory_order_acquire);
    }

    void call(std::function<void()> code);
    std::vector<NodeId> connected() const;

    // --- the thread that receives
    /// This node takes part in the run from now on: the end of another is a loss. All others are told.
    void take_part();

    /// Transport::expect.
    void expect(NodeId node);
    /// Transport::has_joined.
    void has_joined(NodeId node);

    /// Reads what has come, and handles it. False where nothing more comes from there.
    bool receive_from(Link& link);

    /// Receives what has come. After the peer's goodbye it serves the peer: while this node waits for the
    /// goodbyes of others, that one may wait for this node's, which was lost on the way. False: nothing more
    /// is to be done for this link.
    bool attend_to(Link& link);
    void look_for_dead_hosts();
    void run_calls() {
        if (calls_wait_.load(std::memory_order_acquire)) run_waiting_calls();
    }

    /// Returns when all that was posted reaches the others even if this process ends, or at `deadline`: then
    /// a node that it has not reached. Of the nodes that are `least` or have gone on.
    std::optional<NodeId> settle(Deadline deadline, Presence least = Presence::arriving);
    /// The same when the run has ended. A node that still arrives has not joined, and may have stalled.
    void settle_at_end();

    bool is_lost() {
        const std::lock_guard lock(mutex);
        return lost;
    }

    MeshOptions options;
    NodeId rank;
    NodeId nodes;
    std::uint64_t fingerprint;
    Transport::Events events;
    std::atomic<bool> stopping{false};
    std::atomic<bool> leaving{false};  ///< this node: the others may end as they like

    // Meeting and parting.
    std::mutex mutex;
    std::condition_variable changed;
    bool lost = false;

private:
    /// One that has authenticated. On this machine it has been offered memory, and has not answered yet.
    struct Visitor {
        Session session;
        Descriptor socket;  ///< over TCP
        std::optional<LocalPeer> local;
        NetworkId network = 0;
    };

    const MeshNetwork& network(NetworkId number) const { return options.networks[number]; }
    /// Whether this node and that one begin the run, and the network joins them.
    bool begins_with(NodeId node, NetworkId number) const {
        return node != rank && node < begin() && network(number).joins(node);
    }
    bool joins() const { return options.at_start && rank >= *options.at_start; }
    NodeId begin() const { return options.at_start.value_or(nodes); }
    Identity identity(Protection protection) const { return {rank, nodes, fingerprint, {}, protection}; }
    void meet_all();
    void meet_on(NetworkId network, const AddressTable& table);
    void connect_to_present(const AddressTable& table, Deadline deadline);
    bool connect_if_open(NodeId node, NetworkId number, const std::string& address, Deadline deadline);
    std::string admit(const Identity& peer, NetworkId network);
    void accept(Descriptor socket, const Session& session, NetworkId network);
    std::string listen_on_network(NetworkId network);
    Connection connect_to_node(NodeId node, NetworkId network, const std::string& address, Deadline deadline);
    Connection connect_in_machine(NodeId node, NetworkId network, const std::string& address,
                                  Deadline deadline);
    Link& add(Visitor visitor, Deadline deadline);
    Link& add(Connection connection, NetworkId network, Deadline deadline);
    Link& add(const Session& session, LocalStream stream, Protection protection, NetworkId network);
    LocalStream between_machines(Descriptor socket, const Session& session, NetworkId network,
                                 Deadline deadline) const;
    void offer_by_datagrams(Descriptor socket, const Session& session, NetworkId network);
    void await_higher(NetworkId network);
    Deadline step_deadline() const;
    Deadline all_steps_deadline() const;
    NodeId missing(NetworkId network) const;
    void admit_all();
    void admit_visitor(Visitor visitor);
    void run_waiting_calls();
    void take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body);
    void see(Link& link, FrameKind kind);
    void part_from(Link& link);
    void drop(Link& link, const std::string& reason);
    void go(Link& link);
    void lose(NodeId node, const std::string& reason);

    /// Zero where one network joins all nodes, whatever it is called.
    std::size_t network_stride_;
    // By place.
    std::vector<std::atomic<Link*>> links_;
    std::vector<std::atomic<Presence>> presence_;
    std::vector<std::unique_ptr<Flow>> flows_;  ///< none for this node
    std::vector<bool> met_;                     ///< has authenticated to the listener

    std::vector<std::unique_ptr<Link>> made_;
    std::list<Visitor> visitors_;        ///< those that nothing has been done about
    std::vector<UdpPeer> by_datagrams_;  ///< of one network: those that are met together when all have come
    bool said_why_no_memory_ = false;
    std::atomic<bool> calls_wait_{false};
    std::vector<std::function<void()>> calls_;
    bool begun_ = false;  ///< the receiver's: this node takes part, if it joins
    bool admitting_ = false;
    Descriptor answering_;  ///< the visitor whose answer is awaited
    std::thread admitting_thread_;
    std::vector<std::unique_ptr<Listener>> listeners_;  ///< the last member: their threads use those above
};

}  // namespace heddle::native
