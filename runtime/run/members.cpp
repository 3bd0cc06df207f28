// The messages by which nodes join and leave a running program, and what each of them changes.
#include "runtime/run/members.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

Members& members_of(Node& node) {
    if (!node.members()) throw MalformedMessage("the nodes of this run do not change");
    return *node.members();
}

const Handler ask_handler("members.ask", Handler::Kind::control, [](Node& node, NodeId from, auto message) {
    members_of(node).on_asked(node.receiver_outbox(), from, value_in<Members::Change>(message));
});
const Handler welcome_handler("members.welcome", Handler::Kind::control,
                              [](Node& node, NodeId, auto message) {
                                  Reader reader(message);
                                  const auto epoch = reader.get<Epoch>();
                                  std::vector<NodeId> nodes;
                                  while (reader.ok() && !reader.done()) nodes.push_back(reader.get<NodeId>());
                                  reader.check();
                                  members_of(node).on_welcome(node.receiver_outbox(), epoch,
                                                              std::move(nodes));
                              });
const Handler turned_away_handler("members.turned_away", Handler::Kind::control,
                                  [](Node& node, NodeId, auto message) {
                                      members_of(node).on_turned_away(node.receiver(),
                                                                      value_in<std::uint64_t>(message));
                                  });
const Handler joined_handler("members.joined", Handler::Kind::control,
                             [](Node& node, NodeId from, auto message) {
                                 members_of(node).on_joined(node.receiver_outbox(), from,
                                                            value_in<Epoch>(message));
                             });
const Handler leave_handler("members.leave", Handler::Kind::control,
                            [](Node& node, NodeId, auto) { members_of(node).leave(node.receiver_outbox()); });
const Handler start_handler("members.start", Handler::Kind::control, [](Node& node, NodeId, auto message) {
    if (!node.stopping()) node.receiver().backend->start_nodes(node.receiver(), value_in<NodeId>(message));
});
const Handler go_handler("members.go", Handler::Kind::control, [](Node& node, NodeId, auto message) {
    members_of(node).on_go(node.receiver_outbox(), value_in<Epoch>(message));
});
const Handler close_handler("members.close", Handler::Kind::control,
                            [](Node& node, NodeId from, auto message) {
                                members_of(node).on_close(node.receiver_outbox(), from,
                                                          value_in<Epoch>(message));
                            });
const Handler closed_handler("members.closed", Handler::Kind::control,
                             [](Node& node, NodeId from, auto message) {
                                 members_of(node).on_closed(node.receiver_outbox(), from,
                                                            value_in<Members::Sent>(message));
                             });
const Handler left_handler("members.left", Handler::Kind::control, [](Node& node, NodeId from, auto message) {
    members_of(node).on_left(node.receiver_outbox(), from, value_in<Members::LastWords>(message));
});
const Handler known_handler("members.known", Handler::Kind::control, [](Node& node, NodeId, auto) {
    members_of(node).on_acknowledged(node.receiver_outbox());
});

std::vector<NodeId> changed(const MemberList& members, NodeId node, Members::Change change) {
    std::vector<NodeId> nodes = members.nodes;
    std::erase(nodes, node);
    if (change == Members::Change::join) nodes.insert(std::ranges::lower_bound(nodes, node), node);
    return nodes;
}

std::vector<NodeId> first_nodes(NodeId count) {
    std::vector<NodeId> nodes(count);
    for (NodeId node = 0; node < count; ++node) nodes[node] = node;
    return nodes;
}

/// The simulated nodes of a process have the same lists one after the other: the last is shared, so that
/// memory does not grow with the square of the nodes.
std::shared_ptr<const MemberList> list_of(Epoch epoch, std::vector<NodeId> nodes, const Topology& all) {
    static SpinLock lock;
    static std::weak_ptr<const MemberList> last;
    const SpinLock::Guard guard(lock);
    auto list = last.lock();
    if (list && list->all == &all && list->epoch == epoch && list->nodes == nodes) return list;
    list = std::make_shared<const MemberList>(epoch, std::move(nodes), all);
    last = list;
    return list;
}

}  // namespace

Members::Members(Node& node)
    : node_(node),
      id_(node.id()),
      ways_(node.topology().nodes),
      stage_(id_ < *node.topology().at_start ? Stage::member : Stage::outside),
      received_(node.topology().nodes),
      known_(node.topology().nodes, false),
      ever_(*node.topology().at_start) {
    if (stage_.load() == Stage::outside) {
        set_list(0, {id_});
        ways_.open(0);
        return;
    }
    set_list(0, first_nodes(*node.topology().at_start));
    for (NodeId other = 0; other < *node.topology().at_start; ++other) {
        known_[other] = true;
        if (other != id_) ways_.open(other);
    }
}

std::shared_ptr<const MemberList> Members::list() const {
    const SpinLock::Guard guard(list_lock_);
    return list_;
}

void Members::set_list(Epoch epoch, std::vector<NodeId> nodes) {
    auto next = list_of(epoch, std::move(nodes), node_.topology());
    {
        const SpinLock::Guard guard(list_lock_);
        list_.swap(next);
    }
    epoch_.store(epoch, std::memory_order_seq_cst);
}

/// `node` joins or leaves, as this node sees it.
void Members::change_epoch(Outbox& outbox, Epoch epoch, NodeId node, Change change) {
    set_list(epoch, changed(*list(), node, change));
    follow_change(outbox, change);
}

/// The list has changed. Workers look for work among the new members.
void Members::follow_change(Outbox& outbox, Change change) {
    const auto now = list();
    node_.balancer().follow(*now);
    if (node_.termination().change(outbox, *now, change == Change::leave)) node_.end(outbox);
    node_.wake_all(outbox.context());
}

// --- joining

void Members::begin(Outbox& outbox) {
    outbox.post(0, ask_handler, bytes_of(Change::join));
}

/// On node 0.
void Members::on_asked(Outbox& outbox, NodeId node, Change change) {
    bool too_late = false;
    {
        const SpinLock::Guard guard(change_lock_);
        too_late = node_.stopping();
        if (!too_late) asked_.push_back({node, change});
    }
    if (!too_late) return next_change(outbox);
    if (change == Change::join) turn_away(outbox, node);
}

void Members::turn_away(Outbox& outbox, NodeId node) {
    outbox.post_last(node, turned_away_handler, bytes_of(end_acknowledgments(node)));
}

/// Of parts of messages that have come over gateways.
std::uint64_t Members::end_acknowledgments(NodeId to) {
    Forwarding* const forwarding = node_.forwarding();
    return forwarding ? forwarding->end_acknowledgments(to) : 0;
}

/// All the acknowledgments that a node has sent have come, or none ever goes this way.
bool Members::has_acknowledgments(NodeId of, std::uint64_t sent) const {
    Forwarding* const forwarding = node_.forwarding();
    return !forwarding || forwarding->acknowledgments_of(of) == sent;
}

std::vector<NodeId> Members::end(Outbox& outbox) {
    std::deque<Asked> asked;
    std::vector<NodeId> reached;
    {
        const SpinLock::Guard guard(change_lock_);
        asked.swap(asked_);
        reached = list()->nodes;
        if (leaver_ != 0) reached.push_back(leaver_);
    }
    for (const Asked& one : asked)
        if (one.change == Change::join) turn_away(outbox, one.node);
    std::erase(reached, id_);
    return reached;
}

/// On node 0.
void Members::next_change(Outbox& outbox) {
    Asked asked{};
    std::shared_ptr<const MemberList> before;
    {
        const SpinLock::Guard guard(change_lock_);
        if (changing_ || asked_.empty() || node_.stopping()) return;
        changing_ = true;
        asked = asked_.front();
        asked_.pop_front();
        before = list();
        if (asked.change == Change::leave) {
            leaver_ = asked.node;
        } else {
            ways_.open(asked.node);
            ever_.fetch_add(1, std::memory_order_seq_cst);
        }
        set_list(before->epoch + 1, changed(*before, asked.node, asked.change));
    }
    const Epoch epoch = before->epoch + 1;
    if (asked.change == Change::leave) {
        acknowledgments_missing_ = static_cast<NodeId>(before->nodes.size() - 1);
        follow_change(outbox, Change::leave);
        return outbox.post(asked.node, go_handler, bytes_of(epoch));
    }
    acknowledgments_missing_ = static_cast<NodeId>(before->nodes.size());  // the others, and the new one
    known_[asked.node] = true;
    Writer welcome;
    welcome.put(epoch);
    for (const NodeId node : before->nodes) welcome.put(node);
    outbox.post(asked.node, welcome_handler, welcome.bytes());
    node_.deadlock_watch().follow(outbox, asked.node);
    follow_change(outbox, Change::join);
    node_.program().joined(node_, asked.node);
}

void Members::on_welcome(Outbox& outbox, Epoch epoch, std::vector<NodeId> members) {
    if (stage_.load() != Stage::outside) throw MalformedMessage("this node is a member");
    for (const NodeId member : members) {
        if (member >= known_.size() || member == id_)
            throw MalformedMessage("it names another run's members");
        known_[member] = true;
        ways_.open(member);
        if (member != 0) outbox.post(member, joined_handler, bytes_of(epoch));
    }
    members.insert(std::ranges::lower_bound(members, id_), id_);
    set_list(epoch, std::move(members));
    stage_.store(Stage::member, std::memory_order_seq_cst);
    membership_.began = outbox.context().backend->now(outbox.context());
    follow_change(outbox, Change::join);
    outbox.post(0, known_handler, {});
    if (wants_to_leave_) leave(outbox);
}

void Members::on_turned_away(Context& caller, std::uint64_t acknowledgments) {
    acknowledgments_of_lead_ = acknowledgments;
    go_if_turned_away(caller);
}

void Members::go_if_turned_away(Context& caller) {
    if (!acknowledgments_of_lead_ || !has_acknowledgments(0, *acknowledgments_of_lead_)) return;
    acknowledgments_of_lead_.reset();
    stage_.store(Stage::turned_away, std::memory_order_seq_cst);
    node_.depart(caller);
}

void Members::on_joined(Outbox& outbox, NodeId node, Epoch epoch) {
    if (known_[node]) throw MalformedMessage("that node has joined already");
    known_[node] = true;
    ways_.open(node);
    change_epoch(outbox, epoch, node, Change::join);
    node_.program().joined(node_, node);
    outbox.post(0, known_handler, {});
}

/// On node 0.
void Members::on_acknowledged(Outbox& outbox) {
    HEDDLE_ASSERT(changing_ && acknowledgments_missing_ > 0);
    if (--acknowledgments_missing_ != 0) return;
    {
        const SpinLock::Guard guard(change_lock_);
        changing_ = false;
    }
    next_change(outbox);
}

// --- leaving: the leaver

/// Node 0 leads the run, and others are reached over gateways.
bool Members::stays() const {
    const auto& routes = node_.topology().routes;
    return id_ == 0 || (routes && routes->is_gateway(id_));
}

void Members::leave(Outbox& outbox) {
    if (stays() || node_.stopping()) return;
    if (stage_.load() == Stage::outside) {
        wants_to_leave_ = true;
        return;
    }
    Stage expected = Stage::member;
    if (!stage_.compare_exchange_strong(expected, Stage::giving)) return;
    for (CoreId core = 0; core < node_.cores(); ++core) node_.worker(core).deque().ask();
    node_.wake_all(outbox.context());
    look(outbox);
}

bool Members::give_away(Worker& worker) {
    const auto now = list();
    const auto count = static_cast<NodeId>(now->nodes.size());
    if (count < 2) return false;
    NodeId heir = now->nodes[next_heir_.fetch_add(1, std::memory_order_relaxed) % count];
    if (heir == id_) heir = now->nodes[next_heir_.fetch_add(1, std::memory_order_relaxed) % count];
    return heir != id_ && node_.steals().give_all(worker.outbox(), heir) != 0;
}

/// Whether all that was sent to this node has come.
bool Members::has_all() const {
    const auto now = list();
    return sent_to_us_.size() + 1 == now->nodes.size() &&
           std::ranges::all_of(sent_to_us_, [this](const auto& one) {
               const auto& [other, sent] = one;
               return received_[other].load(std::memory_order_seq_cst) == sent.messages &&
                      has_acknowledgments(other, sent.acknowledgments);
           });
}

void Members::look(Outbox& outbox) {
    if (!leaving() || node_.stopping()) return;
    bool asks = false;
    bool departs = false;
    {
        const SpinLock::Guard guard(lock_);
        const Stage stage = stage_.load();
        if (stage == Stage::giving && node_.has_nothing_to_do() && !node_.is_kept()) {
            // A worker shows itself active, looks at the stage, and then takes a task. So either it sees that
            // this node asks, and takes none, or the second look sees that the worker is active.
            stage_.store(Stage::asking, std::memory_order_seq_cst);
            asks = node_.has_nothing_to_do();
            if (!asks) stage_.store(Stage::giving, std::memory_order_seq_cst);
        } else if (stage == Stage::going && has_all()) {
            // Invariant: no message comes any more, and node 0 begins no wave until this node has left. So
            // what waits here for another node is found here, or not at all.
            if (node_.needs_message()) refuse_to_wait();
            if (!node_.has_nothing_to_do()) return;
            if (node_.is_kept()) refuse_to_keep();
            departs = true;
            membership_.ended = outbox.context().backend->now(outbox.context());
            stage_.store(Stage::last_words);
        }
    }
    if (asks) outbox.post(0, ask_handler, bytes_of(Change::leave));
    if (departs) node_.depart(outbox.context());
}

/// No message comes any more that would change that.
void Members::refuse_to_keep() const {
    throw Error(fmt::format("node {} cannot leave: a message that came while it left has made what other "
                            "nodes know by their node, such as an endpoint or a team",
                            id_),
                "let it leave when no other node starts threads there; see platform.events");
}

void Members::refuse_to_wait() const {
    throw Error(
        fmt::format("node {} cannot leave: a message that came while it left has begun what waits, and "
                    "no other message comes: {}",
                    id_, fmt::join(node_.deadlock_watch().lines(), "; ")),
        "let it leave when no other node starts threads there; see platform.events");
}

void Members::on_go(Outbox& outbox, Epoch epoch) {
    {
        const SpinLock::Guard guard(lock_);
        if (stage_.load() != Stage::asking) throw MalformedMessage("this node did not ask to leave");
        leave_epoch_ = epoch;
        stage_.store(Stage::going);
    }
    node_.termination().step_out();
    // The others acknowledge nothing once they have closed their ways.
    if (node_.forwarding()) node_.forwarding()->open_windows(outbox);
    for_others([&](NodeId other) { outbox.post(other, close_handler, bytes_of(epoch)); });
}

void Members::on_closed(Outbox& outbox, NodeId from, const Sent& sent) {
    {
        const SpinLock::Guard guard(lock_);
        sent_to_us_[from] = sent;
    }
    look(outbox);
}

void Members::say_left(Outbox& outbox) {
    counts_ = node_.termination().last_counts();
    for_others([&](NodeId other) {
        if (ways_.close(other)) outbox.post_last(other, left_handler, bytes_of(last_words_to(other)));
    });
    stage_.store(Stage::left, std::memory_order_seq_cst);
}

Members::LastWords Members::last_words_to(NodeId node) {
    return {leave_epoch_, ways_.sent(node) + 1, counts_};
}

// --- leaving: the others

void Members::on_close(Outbox& outbox, NodeId leaver, Epoch epoch) {
    if (id_ != 0) change_epoch(outbox, epoch, leaver, Change::leave);
    node_.steals().forget(outbox, leaver);
    if (ways_.close(leaver)) way_closed(outbox, leaver);
}

void Members::way_closed(Outbox& outbox, NodeId to) {
    if (stage_.load() == Stage::last_words)
        return outbox.post_last(to, left_handler, bytes_of(last_words_to(to)));
    outbox.post_last(to, closed_handler, bytes_of(Sent{ways_.sent(to) + 1, end_acknowledgments(to)}));
}

void Members::on_left(Outbox& outbox, NodeId node, const LastWords& words) {
    if (last_words_) throw MalformedMessage("two nodes leave at the same time");
    last_words_.emplace(node, words);
    finish_leaver(outbox);
}

/// Once all that the leaver has sent is here.
void Members::finish_leaver(Outbox& outbox) {
    if (!last_words_) return;
    const auto [node, words] = *last_words_;
    if (received_[node].load(std::memory_order_seq_cst) != words.sent) return;
    last_words_.reset();
    node_.program().left(node_, node);
    if (id_ != 0) return outbox.post(0, known_handler, {});
    {
        const SpinLock::Guard guard(change_lock_);
        leaver_ = 0;
    }
    if (node_.termination().add_leaver(outbox, words.counts)) node_.end(outbox);
    on_acknowledged(outbox);
}

// --- messages

bool Members::holds(NodeId from, std::span<const std::byte> message, Body& body) {
    if (known_[from] || message.empty()) return false;
    RecordHeader header;
    std::memcpy(&header, message.data(), sizeof header);
    if (all_handlers()[header.handler()]->carries()) return false;
    for (const Handler* const early : {&ask_handler, &welcome_handler, &turned_away_handler, &joined_handler})
        if (header.handler() == early->id()) return false;
    held_.push_back({from, Bytes(message.begin(), message.end()), std::move(body)});
    return true;
}

std::optional<Members::Held> Members::take_held() {
    const auto ready = std::ranges::find_if(held_, [this](const Held& held) { return known_[held.from]; });
    if (ready == held_.end()) return std::nullopt;
    Held held = std::move(*ready);
    held_.erase(ready);
    return held;
}

void Members::received(Outbox& outbox) {
    go_if_turned_away(outbox.context());
    finish_leaver(outbox);
    look(outbox);
}

void start_nodes(Outbox& outbox, NodeId count) {
    outbox.post(0, start_handler, bytes_of(count));
}

void ask_to_leave(Outbox& outbox, NodeId node) {
    const NodeId nodes = outbox.context().backend->topology().nodes;
    if (node >= nodes)
        throw Error(fmt::format("node {} is asked to leave, and there are {} nodes", node, nodes),
                    "nodes are numbered from 0");
    outbox.post(node, leave_handler, {});
}

}  // namespace heddle::runtime
