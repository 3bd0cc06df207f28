// How the nodes of a native run start and end together, led by node 0. Start: each node reports that it is
// ready. Node 0 compares clocks by pings, and tells each node at which moment of its clock the run begins.
// End: when all workers have returned, node 0 counts messages sent and delivered until none can be under way
// (F. Mattern, "Algorithms for distributed termination detection", 1987: the four-counter
// method).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/native/frame.hpp"

namespace heddle::native {

/// Messages of one node, or of all.
struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
};

class Coordination {
public:
    using Post = std::function<void(NodeId to, FrameKind kind, runtime::Bytes payload)>;

    /// Returns when `done()`, and lets frames come meanwhile.
    using Attend = std::function<void(const std::function<bool()>& done)>;

    /// The run begins at this moment of this node's clock, shortly ahead.
    using Begin = std::function<void(Clock::time_point zero)>;

    /// `host`: the name of this node's machine. `counts` is called on any thread. `begin` is called once: on
    /// node 0 by `start`, before another node can begin; elsewhere by `handle`, before a message that comes
    /// later is delivered. `attend`: if the thread that waits has to receive.
    Coordination(NodeId rank, NodeId nodes, std::string host, Post post, std::function<Counts()> counts,
                 Begin begin, Attend attend = {});

    /// A control frame has come. The thread that receives.
    void handle(NodeId from, FrameKind kind, std::span<const std::byte> payload);

    /// A node was lost: waiting ends.
    void give_up();

    // --- the thread that runs the node
    /// Returns when the moment of the run's beginning is known. False if a node was lost.
    bool start();

    /// On node 0 after `start`: how far a node's zero may be from that of node 0, if its clock is another
    /// machine's. Zero if all nodes read one clock.
    Clock::duration clock_error() const { return clock_error_; }

    /// On node 0 after `start`: the names of the nodes' machines, by rank.
    const std::vector<std::string>& hosts() const { return hosts_; }

    /// This node's workers have returned. Returns when all nodes' have, and every message has been delivered.
    /// False where a node was lost.
    bool finish();

private:
    bool lead_start();
    bool lead_finish();
    void post_to_all(FrameKind kind);
    bool wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);

    Clock::duration clock_error_{};
    NodeId rank_;
    NodeId nodes_;
    Post post_;
    std::function<Counts()> counts_;
    Begin begin_;
    Attend attend_;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool lost_ = false;
    NodeId ready_ = 0;
    NodeId done_ = 0;
    NodeId counted_ = 0;
    Counts total_;
    std::vector<std::string> hosts_;
    bool finished_ = false;
    bool begun_ = false;

    // The answer to the last ping.
    bool ponged_ = false;
    Clock::time_point pong_arrival_;
    Clock::rep pong_clock_ = 0;
};

}  // namespace heddle::native
