// Detects that a run cannot go on, because everything that is left waits and no task or message will end a
// wait. The error is the same on every backend.
//
// A run in which no task is left and no message is under way has ended (runtime/run/termination.hpp), unless
// strands or tasks wait: then it is a deadlock. Strands that wait hold no worker, so their node is passive. A
// worker whose task waits counts as active, until it has waited for `patience`. And a node with waiters looks
// whether it is passive only when it has had no work for `patience`: most waits are short, and each look may
// cost a message.
//
// Which nodes look: those with waiters of their own, and once one of these has fallen quiet, all, because a
// task that joins another one may wait on a node without waiters.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle::runtime {

class Node;
class Outbox;
struct Context;

class DeadlockWatch {
public:
    explicit DeadlockWatch(Node& node) : node_(node) {}

    /// How long a wait is that is looked at.
    static constexpr Time patience = std::chrono::milliseconds(250);

    /// Whether this node has waiters that could wait for ever, or was told that another one has.
    bool watches() const;

    /// The waiters of this node. Exact if no worker runs.
    std::uint64_t waiters() const;

    /// False while waiters may be woken soon: then the node need not look whether it is passive.
    bool may_look() const;

    /// A worker has had no work for `patience`. The caller owns the outbox.
    void fell_quiet(Outbox& outbox);
    void began_activity() {
        if (quiet_.load(std::memory_order_relaxed)) [[unlikely]]
            quiet_.store(false, std::memory_order_seq_cst);
    }

    /// By node 0: `node` has joined, and looks too if the others were told to.
    void follow(Outbox& outbox, NodeId node);

    /// Tasks that wait on their workers' stacks, for something else than a join.
    std::atomic<std::uint32_t>& tasks() { return tasks_; }

    /// By node 0: the run has ended, and waiters are left. Throws the error here, or in a handler, when all
    /// nodes have said what waits there.
    void name_waiters(Outbox& outbox);

    // --- handlers
    void on_suspicion(Outbox& outbox);
    void on_watch(Context& caller);
    std::vector<std::string> lines() const;
    void add_lines(NodeId from, const std::vector<std::string>& lines);

private:
    [[noreturn]] void refuse() const;

    std::atomic<bool> told_{false};
    std::atomic<bool> quiet_{false};
    std::atomic<bool> suspected_{false};  ///< node 0 was told
    std::atomic<std::uint32_t> tasks_{0};
    Node& node_;
    // Node 0.
    std::uint64_t waiters_ = 0;
    NodeId answers_missing_ = 0;
    std::vector<std::string> found_;
};

}  // namespace heddle::runtime
