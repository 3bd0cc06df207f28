// Lets nodes join and leave a running program, by active messages, so that all backends run the same code.
//
// Node 0 leads: it puts the changes one after the other, and gives each an epoch. The next change begins when
// all members have acknowledged the last.
//
// Join: node n asks node 0, which names the members to it (`welcome`). n tells each of them (`joined`),
// and each acknowledges to node 0. A node handles no message of a node of which it has not been told: such
// messages wait until `joined` has come.
//
// Leave: the leaver L gives away what may leave, steals nothing, and asks node 0 when it has nothing
// left. Node 0 lets it `go`. L asks each member to `close` its way to L; a member closes it exactly
// (ways.hpp), and says how many messages it has sent (`closed`). When L has received all of them and has
// passed on what they brought, it closes its own ways, and says how many it has sent (`left`). Each member
// acknowledges once it has all those.
//
// Several networks: gateways stay to the end. What they pass on to a node that leaves is a part of the
// messages that are counted, or acknowledges some (forwarding.hpp), and these are counted too. So nothing is
// under way to a leaver at a gateway.
//
// Invariants: 1. A node sends to members only. 2. No message is under way to a node that has left, and none
// from it is handled after `left` was. 3. Every node that could have work is counted by all waves of the
// termination detection: node 0 begins a new epoch of waves before a new member can exchange a message, and
// begins no wave between `go` and the leaver's last counts. 4. From the moment at which the leaver asks node
// 0 it waits for no other node: it begins no task that came from one, but hands it on, and gives none of
// which it awaits the result. So nothing that its work needs is sent to it over a way that is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/comm/ways.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/run/member_list.hpp"
#include "runtime/run/report.hpp"
#include "runtime/run/termination.hpp"

namespace heddle::runtime {

class Node;
class Outbox;
class Worker;

class Members {
public:
    /// The topology says how many nodes begin.
    explicit Members(Node& node);

    /// Those of which this node knows. Any context.
    std::shared_ptr<const MemberList> list() const;
    Epoch epoch() const { return epoch_.load(std::memory_order_seq_cst); }
    /// For the others among them.
    template <class Visit>
    void for_others(const Visit& visit) const {
        const auto now = list();
        for (const NodeId node : now->nodes)
            if (node != id_) visit(node);
    }
    /// When this node joined and left. Once its workers have ended.
    Membership membership() const { return membership_; }
    /// On node 0: how many nodes have been members.
    NodeId ever() const { return ever_.load(std::memory_order_seq_cst); }

    Ways& ways() { return ways_; }
    /// Outbox: the last message to that node, whose way is closed, has left.
    void way_closed(Outbox& outbox, NodeId to);

    /// By the first worker of a node that is no member yet: it asks to join.
    void begin(Outbox& outbox);

    // --- leaving
    /// This node is to leave. In a handler.
    void leave(Outbox& outbox);
    /// It gives its work away, and takes none.
    bool leaving() const { return stage_.load(std::memory_order_seq_cst) > Stage::member; }
    /// It has asked node 0: a task that still comes is handed on and not begun. For a worker that has shown
    /// itself active.
    bool hands_on() const { return stage_.load(std::memory_order_seq_cst) > Stage::giving; }
    /// Its workers end, and say_left is to follow.
    bool departs() const { return stage_.load(std::memory_order_seq_cst) == Stage::last_words; }
    /// It has been a member: its workers may begin.
    bool takes_part() const {
        const Stage stage = stage_.load(std::memory_order_seq_cst);
        return stage != Stage::outside && stage != Stage::turned_away;
    }
    /// It is no member any more, or never became one.
    bool has_left() const { return stage_.load(std::memory_order_seq_cst) >= Stage::left; }
    /// The run was over before it became one.
    bool turned_away() const { return stage_.load(std::memory_order_seq_cst) == Stage::turned_away; }
    /// A leaving node's worker looks for work: gives other nodes what waits here. True if it gave something.
    bool give_away(Worker& worker);
    /// The node may have become empty. Any context, with its own outbox.
    void look(Outbox& outbox);
    /// All workers have ended, and the report is on its way: the last words.
    void say_left(Outbox& outbox);

    // --- what the node asks for each message that comes
    /// Keeps a message that comes too early. Its sender must say first that it has joined.
    bool holds(NodeId from, std::span<const std::byte> message, Body& body);
    /// A kept message whose sender is known by now.
    struct Held {
        NodeId from = 0;
        Bytes message;
        Body body;
    };
    std::optional<Held> take_held();
    /// After they have had their effects.
    void count_received(NodeId from, std::uint64_t messages) {
        received_[from].fetch_add(messages, std::memory_order_seq_cst);
    }
    /// After messages were counted.
    void received(Outbox& outbox);

    // --- handlers
    enum class Change : std::uint8_t { join, leave };
    void on_asked(Outbox& outbox, NodeId node, Change change);
    void on_welcome(Outbox& outbox, Epoch epoch, std::vector<NodeId> members);
    /// So many acknowledgments (Forwarding) of node 0 come, or have come.
    void on_turned_away(Context& caller, std::uint64_t acknowledgments);
    void on_joined(Outbox& outbox, NodeId node, Epoch epoch);
    void on_go(Outbox& outbox, Epoch epoch);
    void on_close(Outbox& outbox, NodeId leaver, Epoch epoch);
    /// To the receiver.
    struct Sent {
        std::uint64_t messages = 0;         ///< active ones, with this one
        std::uint64_t acknowledgments = 0;  ///< Forwarding's
    };
    void on_closed(Outbox& outbox, NodeId from, const Sent& sent);
    struct LastWords {
        Epoch epoch = 0;
        std::uint64_t sent = 0;  ///< active messages to the receiver, with this one
        WaveAnswer counts;
    };
    void on_left(Outbox& outbox, NodeId node, const LastWords& words);
    /// On node 0: a member knows of the last change.
    void on_acknowledged(Outbox& outbox);

    /// By node 0, when the run has ended: turns away nodes that would join, and names the nodes that take
    /// part, with one that is leaving. No node becomes a member afterwards.
    std::vector<NodeId> end(Outbox& outbox);

private:
    /// In the order in which a node goes through them.
    enum class Stage : std::uint8_t { outside, member, giving, asking, going, last_words, left, turned_away };
    struct Asked {
        NodeId node;
        Change change;
    };

    void set_list(Epoch epoch, std::vector<NodeId> nodes);
    void change_epoch(Outbox& outbox, Epoch epoch, NodeId node, Change change);
    void follow_change(Outbox& outbox, Change change);
    void next_change(Outbox& outbox);
    bool stays() const;
    void turn_away(Outbox& outbox, NodeId node);
    void go_if_turned_away(Context& caller);
    std::uint64_t end_acknowledgments(NodeId to);
    bool has_acknowledgments(NodeId of, std::uint64_t sent) const;
    bool has_all() const;
    [[noreturn]] void refuse_to_keep() const;
    [[noreturn]] void refuse_to_wait() const;
    void finish_leaver(Outbox& outbox);
    LastWords last_words_to(NodeId node);

    Node& node_;
    NodeId id_;
    Ways ways_;
    std::atomic<Stage> stage_;
    std::atomic<Epoch> epoch_{0};
    std::atomic<NodeId> next_heir_{0};  ///< which member gets the next gift
    mutable SpinLock list_lock_;        ///< over `list_`
    std::shared_ptr<const MemberList> list_;
    std::vector<std::atomic<std::uint64_t>> received_;  ///< active messages of each node

    // Handlers only.
    std::vector<bool> known_;  ///< of which nodes this one has been told
    std::deque<Held> held_;
    std::optional<std::pair<NodeId, LastWords>> last_words_;  ///< of a leaver, until all it has sent is here
    Membership membership_;
    bool wants_to_leave_ = false;                           ///< asked to before it was a member
    std::optional<std::uint64_t> acknowledgments_of_lead_;  ///< node 0's: this one was turned away

    SpinLock lock_;  ///< over those below: of a leaver
    std::map<NodeId, Sent> sent_to_us_;
    Epoch leave_epoch_ = 0;
    WaveAnswer counts_;

    // Node 0. Invariant: a change is decided under this lock and before the run ends, or not at all. So a
    // node that becomes a member is among those that are told of the end.
    SpinLock change_lock_;  ///< over the next three, and over changes of `list_`
    bool changing_ = false;
    NodeId leaver_ = 0;
    std::deque<Asked> asked_;
    NodeId acknowledgments_missing_ = 0;
    std::atomic<NodeId> ever_{0};
};

/// Lets up to `count` nodes more start and join, if there are any (Backend::start_nodes).
void start_nodes(Outbox& outbox, NodeId count);

/// Asks a node, which may be the caller's own, to leave.
void ask_to_leave(Outbox& outbox, NodeId node);

}  // namespace heddle::runtime
