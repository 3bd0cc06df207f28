// The connections of this node to all other nodes: how they are made, and how each received frame is
// dispatched. Derived classes decide which threads send and receive: threads of their own (mesh.cpp), or
// workers (polled_mesh.cpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/native/flow.hpp"
#include "runtime/native/link.hpp"
#include "runtime/native/listener.hpp"
#include "runtime/native/local_meeting.hpp"
#include "runtime/native/mesh.hpp"

namespace heddle::native {

struct Peers {
    /// How often to look for hosts that are dead.
    static constexpr std::chrono::seconds look_period{1};

    /// How long to wait at the end until the others have all that was sent.
    static constexpr std::chrono::seconds settle_max{10};

    /// Meets the other nodes, and connects to each. Throws Error.
    explicit Peers(const MeshOptions& given);
    virtual ~Peers() = default;
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    // --- for those that derive
    /// Queues a frame, and sees to it that it is written. Any thread.
    virtual void post(Link& link, FrameKind kind, runtime::Bytes payload, runtime::Body body) = 0;

    /// Returns when what was posted has been written, or at `deadline`. The thread that receives.
    virtual void write_all_until(Deadline deadline) = 0;

    /// A link that was blocked may have room again. The thread that receives.
    virtual void room(Link& /*link*/) {}

    /// A frame has come that is no message, or a node was lost: a thread may be waiting for that.
    virtual void news() {}

    // --- the thread that receives
    /// Reads what has come, and handles it. False where nothing more comes from there.
    bool receive_from(Link& link, Link::When when);
    void look_for_dead_hosts();

    /// Returns when all that was posted reaches the others even if this process ends, or at `deadline`.
    void settle(Deadline deadline);

    bool is_lost() {
        const std::lock_guard lock(mutex);
        return lost;
    }

    MeshOptions options;
    NodeId rank;
    NodeId nodes;
    std::uint64_t fingerprint;
    std::vector<std::unique_ptr<Link>> links;  ///< by rank; none for this node. Complete once met
    std::vector<std::unique_ptr<Flow>> flows;  ///< likewise
    Transport::Events events;
    std::atomic<bool> stopping{false};

    // Meeting and parting.
    std::mutex mutex;
    std::condition_variable changed;
    NodeId connected = 0;
    NodeId parted = 0;
    bool lost = false;

private:
    Identity identity(Protection protection) const { return {rank, nodes, fingerprint, {}, protection}; }
    void connect_all();
    std::string admit(const Identity& peer);
    void accept(Descriptor socket, const Session& session);
    void listen();
    Connection connect_to_node(NodeId node, const std::string& address, Deadline deadline);
    void add(const Session& session, LocalStream stream, Protection protection);
    void add_socket(Connection connection);
    void await_higher(Deadline deadline);
    void take(Link& link, FrameKind kind, std::span<const std::byte> payload, runtime::Body body);
    void lose(NodeId node, const std::string& reason);

    std::vector<bool> met_;              ///< by rank: has authenticated to the listener
    std::vector<LocalPeer> local_;       ///< those that have not answered the offer of memory yet
    std::vector<UdpPeer> by_datagrams_;  ///< those that are met together when all have come
    bool said_why_no_memory_ = false;
    std::unique_ptr<Listener> listener_;  ///< the last member: its thread uses those above
};

}  // namespace heddle::native
