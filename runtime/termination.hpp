// Exact detection of the end of a run, for any mix of tasks, tokens and messages: the four-counter method (F.
// Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987), in waves over
// a tree of the nodes.
//
// A wave visits every node and waits there until the node is passive (no worker has a task, no token waits).
// It brings back how many messages that can make work were sent, and how many were received. The run is over
// when what one wave found received equals what the next found sent: then no message was under way when the
// first ended, and nobody has had work since.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "runtime/outbox.hpp"
#include "runtime/spin_lock.hpp"

namespace heddle::runtime {

class Termination {
public:
    /// `passive` says whether the node has neither running tasks nor waiting tokens.
    Termination(NodeId node, NodeId nodes, std::function<bool()> passive);

    /// Messages that can make work (Handler::Kind::work), of this node.
    std::atomic<std::uint64_t>& sent() { return sent_; }
    void received(std::uint64_t messages) { received_.fetch_add(messages, std::memory_order_seq_cst); }

    /// To be called whenever the node may have become passive. True, once, on node 0 when the run is over.
    bool look(Outbox& outbox);

    /// Messages of a wave. The second says, like `look`, whether the run is over.
    bool wave(Outbox& outbox);
    bool answer(Outbox& outbox, std::uint64_t sent, std::uint64_t received);

    /// Calls `visit` for the node's children in the tree.
    void for_children(const std::function<void(NodeId)>& visit) const;

private:
    void begin_wave(Outbox& outbox);

    static constexpr NodeId arity = 4;

    NodeId node_;
    NodeId nodes_;
    NodeId children_ = 0;
    std::function<bool()> passive_;
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> received_{0};

    SpinLock lock_;  ///< over all below: workers that become passive and the receiver meet here
    bool pending_ = false;
    NodeId answers_missing_ = 0;
    std::uint64_t wave_sent_ = 0;
    std::uint64_t wave_received_ = 0;
    std::uint64_t last_received_ = ~std::uint64_t{0};  ///< node 0: what the last wave brought
    bool over_ = false;
};

}  // namespace heddle::runtime
