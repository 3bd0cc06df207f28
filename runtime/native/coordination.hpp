// How node 0 starts and ends a native run. At the start each node reports that it is ready. Node 0 compares
// clocks by pings, and tells each node at which moment of its clock the run begins. When all workers have
// returned, node 0 counts messages sent and delivered until none can be under way (F. Mattern, "Algorithms
// for distributed termination detection", 1987: the four-counter method). A node that joins later reports
// when all others receive from it, and begins in the run's time. A node that leaves tells node 0 its final
// counts.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/native/frame.hpp"

namespace heddle::native {

/// Messages of one node, or of all.
struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): there is one, and its members go by their users
class Coordination {
public:
    using Post = std::function<void(NodeId to, FrameKind kind, runtime::Bytes payload)>;

    /// Returns when `done()`, and lets frames come meanwhile.
    using Attend = std::function<void(const std::function<bool()>& done)>;

    /// The run begins at this moment of this node's clock, shortly ahead.
    using Begin = std::function<void(Clock::time_point zero)>;

    /// Nodes 0 to `at_start` - 1 begin the run, of `nodes` that take part in the end. `host`: the name of
    /// this node's machine. `counts` is called on any thread. `begin` is called once: on node 0 by `start`,
    /// before another node can begin; elsewhere by `handle`, before a message that comes later is delivered.
    /// `attend`: if the thread that waits has to receive.
    Coordination(NodeId rank, NodeId nodes, NodeId at_start, std::string host, Post post,
                 std::function<Counts()> counts, Begin begin, Attend attend = {});

    /// The order in which node 0 tells all others something; without it, that of their numbers. Before
    /// `start`.
    void tell_in_order(std::vector<NodeId> order) { order_ = std::move(order); }

    /// A control frame has come. The thread that receives.
    void handle(NodeId from, FrameKind kind, std::span<const std::byte> payload);

    /// A node was lost: waiting ends.
    void give_up();

    /// Nodes may join and leave: `node` has left, or ended before it had joined. For each connection; the
    /// thread that receives.
    void gone(NodeId node);

    /// `joined` is called with each other node that has joined and not left, before `finish` returns: such a
    /// node says goodbye. Not on node 0. Before `start`; the thread that receives.
    void tell_joined(std::function<void(NodeId node)> joined) { joined_ = std::move(joined); }

    /// The first node on the way to node 0, which stays to the end. Before `start`.
    void reach_lead_by(NodeId node) { towards_lead_ = node; }

    // --- the thread that runs the node
    enum class Started : std::uint8_t {
        begun,
        lost,  ///< a node was lost
        over   ///< this node was to join, but the run is over
    };
    /// Returns when the moment of the run's beginning is known. `connected`: the nodes that this one is
    /// connected to, if it joins; once for each connection.
    Started start(const std::vector<NodeId>& connected = {});

    /// On node 0 after `start`: how far a node's zero may be from that of node 0, if its clock is another
    /// machine's. Zero if all nodes read one clock.
    Clock::duration clock_error() const;

    /// On node 0 after `start`: the names of the nodes' machines, by rank; empty for one that has not joined.
    std::vector<std::string> hosts() const;

    /// This node's workers have returned, because it leaves. Returns when node 0 has its counts: then the
    /// run goes on without it. False where a node was lost.
    bool leave();

    /// This node's workers have returned. Returns when all nodes' have, and every message has been delivered.
    /// False where a node was lost.
    bool finish();

private:
    /// A node whose clock is compared with that of node 0. The quickest of several answers counts.
    struct Comparison {
        int pings = 0;
        Clock::time_point departure{};
        Clock::duration best = Clock::duration::max();
        Clock::duration offset{};
        Clock::duration longest{};
    };

    bool joins() const { return rank_ >= at_start_; }
    static void take_pong(Comparison& comparison, Clock::time_point arrival, Clock::duration clock);
    Clock::duration offset_of(const Comparison& comparison);
    void answer_count();
    void say_ready();
    Started join(const std::vector<NodeId>& connected);
    void take_ready(NodeId from, std::span<const std::byte> payload);
    void compare_late(NodeId node);
    bool lead_start();
    bool lead_finish();
    void post_to_all(FrameKind kind, const runtime::Bytes& payload = {});
    runtime::Bytes pack_joined() const;
    void take_joined(std::span<const std::byte> list) const;
    bool wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);

    Clock::duration clock_error_{};
    NodeId rank_;
    NodeId nodes_;
    NodeId at_start_;
    Post post_;
    std::function<Counts()> counts_;
    Begin begin_;
    Attend attend_;
    std::function<void(NodeId node)> joined_;
    std::vector<NodeId> order_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool lost_ = false;
    NodeId ready_ = 0;
    NodeId done_ = 0;
    NodeId counted_ = 0;
    Counts total_;

    // Where nodes join and leave.
    std::vector<bool> member_;                ///< node 0's: has begun, and has not left
    NodeId members_ = 0;                      ///< so many, with node 0
    std::vector<NodeId> early_;               ///< node 0's: ready to join, before the run has begun
    std::map<NodeId, Comparison> comparing_;  ///< node 0's: about to join
    std::optional<Clock::time_point> zero_;   ///< node 0's
    bool ending_ = false;                     ///< node 0's: no node joins any more
    Counts left_total_;                       ///< node 0's: of the nodes that have left
    /// Of a node that joins: how many connections to each node that node receives from, or are gone.
    std::vector<std::size_t> settled_;
    NodeId towards_lead_ = 0;
    bool over_ = false;
    bool leaving_ = false;
    bool left_ = false;
    std::vector<std::string> hosts_;
    bool finished_ = false;
    bool begun_ = false;

    Comparison comparison_;  ///< of the nodes that begin, one after the other
    bool ponged_ = false;
};

}  // namespace heddle::native
