// Stealing between nodes. It sends requests and answers them, hands tokens over, brings results home, and
// serves lifelines (Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/run/schedule.hpp"
#include "runtime/sources/token.hpp"

namespace heddle::runtime {

class Node;
class Worker;
struct Slot;

class StealService {
public:
    explicit StealService(Node& node) : node_(node) {}

    /// True if the node may have one request more under way; `request` must follow, and `request_ended`
    /// when it is answered.
    bool may_request();
    void request_ended() { under_way_.fetch_sub(1, std::memory_order_seq_cst); }

    /// Asks node `victim` for tasks on behalf of a worker. The answer comes to Worker::request_answered.
    void request(Worker& thief, NodeId victim);

    /// Asks node `victim` for tasks on behalf of this node, and no worker waits for the answer. False while
    /// such a request is under way: a node has one at most.
    bool request_far(Worker& thief, NodeId victim);

    /// Asks `victim` to remember this node until it has something to give.
    void tie_lifeline(Worker& thief, NodeId victim);

    /// Sends what a thief would get to a node that has not asked: forks and ranked tasks too, where there are
    /// some. Returns how many.
    std::uint32_t give_away(Outbox& outbox, NodeId to);

    /// Sends all that may leave, as far as one message takes it. Returns how many tasks.
    std::uint32_t give_all(Outbox& outbox, NodeId to);

    /// Whether requests of this node are under way.
    bool asks() const {
        return under_way_.load(std::memory_order_seq_cst) != 0 ||
               far_under_way_.load(std::memory_order_seq_cst);
    }

    /// Node `leaver` takes nothing more.
    void forget(Outbox& outbox, NodeId leaver);

    /// Sends a token's result, in its payload, to where it is awaited, if anywhere.
    void send_result(Worker& worker, Token& token);

    /// Gives tasks to nodes that wait, as far as they go. A context that has shared tasks must call it.
    void serve_waiting(Outbox& outbox);
    /// Nodes at the end of a lifeline, and requests that a busy node has kept.
    bool anybody_waits() const { return waiting_.load(std::memory_order_seq_cst) != 0; }

    /// Called when no worker of this node is active any more: nothing will come for the requests it has kept.
    void refuse_waiting(Outbox& outbox);

    /// Tasks that came to this node, by victim. Written by the receiver.
    std::map<NodeId, std::uint64_t> stolen_from() const;
    /// Adds the requests of this node that brought tasks. Written by the receiver.
    void add_granted(Counters& counters) const;

    // --- handlers
    struct Request {
        CoreId core;
        std::uint32_t lifeline;
    };
    void on_request(NodeId thief, Request request);
    /// The request of `core`, or the far one, was answered, with tasks or without. True if its worker will
    /// look.
    bool answered(CoreId core);
    void on_tokens(NodeId victim, std::span<const std::byte> message);
    void on_result(NodeId from, std::span<const std::byte> message);

private:
    struct Waiting {
        NodeId thief;
        CoreId core;  ///< the worker that waits for the answer; or Home::no_worker (lifeline), or far_request
    };

    std::uint32_t give(Outbox& outbox, NodeId thief, CoreId core);
    std::uint32_t give(Outbox& outbox, NodeId thief, CoreId core, std::uint32_t wanted);
    void ask_workers();
    void pass_on(NodeId giver);
    void keep(Waiting request);
    void refuse(Outbox& outbox, Waiting request);

    Node& node_;
    std::atomic<std::uint32_t> under_way_{0};  ///< requests of this node for which a worker waits
    std::atomic<bool> far_under_way_{false};   ///< the request for which no worker waits
    std::atomic<CoreId> next_core_{0};         ///< where the next request looks first
    std::atomic<std::uint32_t> waiting_{0};    ///< how many `kept_` are

    void note_loot(NodeId victim, std::uint32_t tasks);
    void note_granted(NodeId victim);

    // Victim and tasks of the messages that have brought some. Summed up now and then: a map would be walked
    // through at each message.
    std::vector<std::pair<NodeId, std::uint64_t>> loot_;
    std::size_t loot_summed_ = 0;    ///< entries at the beginning, one a victim
    std::uint64_t granted_ = 0;      ///< requests
    std::uint64_t far_granted_ = 0;  ///< of these, to another group of the network

    SpinLock lock_;             ///< over `kept_` and `tied_`
    std::vector<NodeId> tied_;  ///< to which nodes this one has tied lifelines, for pass_on
    std::vector<Waiting> kept_;
};

}  // namespace heddle::runtime
