// Detects the exact end of a run with any mix of tasks, tokens and messages. It uses the four-counter method
// (F. Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987), in waves
// over a tree of the nodes. It decides only when the run has ended, not how a node stops.
//
// A wave visits every node and waits there until the node is passive (no worker has a task, no token waits).
// It brings back how many messages that can make work were sent, and how many were received. The run is over
// if the count received in one wave equals the count sent in the next: then no message was under way when the
// first ended, and no node has had work since.
//
// Node 0 begins a wave only if one could succeed. A node that has answered a wave, and is passive with other
// counters than it last told of, reports the difference (sent less received) to its parent. Node 0 sums the
// differences up: messages under way, as far as they were reported. Only if the sum is zero, a wave begins.
//
// Safety is that of the four counters: reports only choose the moment of a wave.
// Liveness: suppose that no task is left and no message that makes work is under way.
//   1. Every node is passive, and `look` was called after the last change of its counters (see `look`). So
//      its counters are in a report or an answer, unless a wave is pending there.
//   2. A pending wave ends, because its nodes are passive; its answers carry the differences as well.
//   3. Each difference is added once on its way up, whatever the order of arrival. So the sum becomes
//      sent - received = 0, node 0 begins a wave, and the second such wave in a row finds what the first
//      found: the run is over.
// If nodes join and leave (members.hpp), a wave has an epoch, and goes along the tree of that epoch's
// members. A node of a later epoch drops it, one of an earlier epoch keeps it until it knows of the change.
// Node 0 begins two waves at least in each epoch, and compares waves of one epoch only. What a node that has
// left sent and received is added to node 0's own counts, before the first wave that does not visit it.
//
// Economy: while nothing changes, no message is sent. If the sum is zero and no counter changes, a wave finds
// sent = received, and the next one ends the run. So between two changes of a counter at most two waves
// begin.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/run/member_list.hpp"

namespace heddle::runtime {

/// What a node tells its parent when a wave has visited its part of the tree.
struct WaveAnswer {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t waiters = 0;    ///< strands and tasks that wait (runtime/core/deadlock_watch.hpp)
    std::int64_t difference = 0;  ///< sent less received, since the last report or answer
};

/// Names a wave where nodes join and leave: the epoch in the upper half, and a count. Later waves have larger
/// numbers.
using WaveNumber = std::uint64_t;

class Termination {
public:
    /// `passive` says whether the node has neither running tasks nor waiting tokens; `waiters`, how many
    /// strands and tasks wait on a passive node.
    Termination(NodeId node, NodeId nodes, std::function<bool()> passive,
                std::function<std::uint64_t()> waiters);

    /// Messages that can make work (Handler::Kind::work), of this node.
    std::atomic<std::uint64_t>& sent() { return sent_; }
    void received(std::uint64_t messages) { received_.fetch_add(messages, std::memory_order_seq_cst); }

    /// The caller must call this whenever the node may have become passive, and on a node that may be
    /// passive also whenever its counters changed. True, once, on node 0 when the run is over.
    bool look(Outbox& outbox);

    /// A wave has come from the parent. The result is that of `look`.
    bool wave(Outbox& outbox, WaveNumber number);
    /// A child's part of the tree has answered a wave.
    bool answer(Outbox& outbox, const WaveAnswer& from_child, WaveNumber number);
    /// A child reports a difference after its answer.
    bool report(Outbox& outbox, std::int64_t difference);

    // --- where nodes join and leave; the results are those of `look`
    /// Before the run.
    void begin(const MemberList& members) {
        changes_ = true;
        follow(members);
    }
    /// The members have changed. `holds`: node 0 begins no wave until `add_leaver`.
    bool change(Outbox& outbox, const MemberList& members, bool holds);
    /// This node leaves: it answers and reports no more.
    void step_out();
    /// Of this node, when it neither sends nor receives any more: what it has counted, with the differences
    /// that it was told and has not passed on.
    WaveAnswer last_counts();
    /// On node 0: the last counts of a node that has left.
    bool add_leaver(Outbox& outbox, const WaveAnswer& counts);

    /// On node 0, when the run is over: the strands and tasks of all nodes that still wait.
    std::uint64_t waiters() const { return waiters_; }

    /// Calls `visit` for the node's children in the tree. Not where nodes join and leave.
    void for_children(const std::function<void(NodeId)>& visit) const;

private:
    enum class Step : std::uint8_t { none, over, ask_children, answer, report };

    Step next_step(WaveAnswer& answer);
    Step end_wave(WaveAnswer& answer);
    void expect_wave(WaveNumber number);
    void follow(const MemberList& members);
    std::int64_t take_difference();
    void begin_wave(Outbox& outbox);
    bool take_kept_wave();

    static constexpr NodeId arity = 4;

    NodeId node_;
    std::function<bool()> passive_;
    std::function<std::uint64_t()> count_waiters_;

    SpinLock lock_;  ///< over all below: workers that become passive and the receiver meet here
    NodeId parent_ = 0;
    std::vector<NodeId> children_;
    bool changes_ = false;  ///< nodes join and leave: waves have numbers. Set before the run
    Epoch epoch_ = 0;
    WaveNumber wave_ = 0;                  ///< the last that was here
    std::optional<WaveNumber> kept_wave_;  ///< of an epoch that this node does not know yet
    bool holds_ = false;                   ///< node 0: begins no wave
    bool out_ = false;
    WaveAnswer leavers_;  ///< node 0: what nodes that have left sent and received
    bool pending_ = false;
    bool asked_ = false;  ///< a wave has been here
    NodeId answers_missing_ = 0;
    std::uint64_t wave_sent_ = 0;
    std::uint64_t wave_received_ = 0;
    std::uint64_t wave_waiters_ = 0;
    std::uint64_t waiters_ = 0;    ///< node 0: what the last wave found
    std::int64_t told_ = 0;        ///< the node's own sent less received, as last passed on
    std::int64_t from_below_ = 0;  ///< differences of the children that were not passed on yet
    std::int64_t under_way_ = 0;   ///< node 0: the sum of all differences
    std::uint64_t last_received_ = ~std::uint64_t{0};  ///< node 0: what the last wave brought
    bool over_ = false;
    // The most used last: the node has what its messages need beside them (runtime/core/node.hpp).
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> received_{0};
};

}  // namespace heddle::runtime
