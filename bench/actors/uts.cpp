// Searches an unbalanced tree with SimGrid actors alone: workers that search and steal, and a server for each
// node that answers messages.
#include "bench/actors/uts.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <new>
#include <simgrid/s4u.hpp>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "bench/actors/message.hpp"
#include "runtime/core/deque.hpp"
#include "runtime/stealing/policy.hpp"

namespace heddle::actors {

namespace s4u = simgrid::s4u;
using runtime::Deque;
using runtime::Slot;
using runtime::Victim;
using workloads::UtsCount;
using workloads::UtsNode;

namespace {

/// As in runtime/core/worker.cpp: a taken slot's state says which worker of the node has it.
constexpr std::uint64_t taken_by(CoreId core) {
    return std::uint64_t{core} + 2;
}
constexpr std::uint32_t deep = 256;  ///< as there: beyond it a waiting worker runs tokens only
constexpr std::uint32_t most_at_once =
    64;  ///< as in runtime/stealing/steal_service.cpp: tasks in one message

struct Cluster;
class Node;

/// What a task's place in a deque holds: first the tree node, later what was counted below it.
UtsNode task_of(const Slot& slot) {
    return *std::launder(reinterpret_cast<const UtsNode*>(slot.payload));
}
UtsCount result_of(const Slot& slot) {
    return *std::launder(reinterpret_cast<const UtsCount*>(slot.payload));
}
void complete(Slot& slot, const UtsCount& count) {
    ::new (static_cast<void*>(slot.payload)) UtsCount(count);
    slot.state = Slot::done;
}

class Worker {
public:
    Worker(Cluster& cluster, Node& node, CoreId core);

    void run();
    Deque& deque() { return deque_; }

    /// Wakes the worker, if it sleeps and was not woken yet.
    bool wake();
    void wake_for_end() { wake_up_->release(); }
    void request_answered();

private:
    UtsCount search(const UtsNode& node, Slot* head);
    UtsCount join(Slot* slot);
    UtsCount begin(const UtsNode& node, Slot* head);
    void serve_request(const Slot* head);
    void wait_for(Slot* slot);
    bool run_something(Slot* head, const Slot* awaited);
    bool run_token(Slot* head);
    bool steal_from(CoreId victim, Slot* head);
    bool scan_node(CoreId begin, Slot* head);
    void rest(double seconds, const Slot* awaited);
    bool something_to_do(const Slot* awaited) const;

    Deque deque_;
    Cluster& cluster_;
    Node& node_;
    CoreId core_;
    std::unique_ptr<runtime::VictimPolicy> policy_;
    s4u::SemaphorePtr wake_up_ = s4u::Semaphore::create(0);
    Time back_off_;
    std::uint32_t failures_ = 0;
    std::uint32_t depth_ = 0;
    bool awaiting_answer_ = false;
    bool requesting_ = false;
    bool sleeping_ = false;
};

class Node {
public:
    Node(Cluster& cluster, NodeId id, s4u::Host& host);

    void start();
    void send(NodeId to, Message message);
    void wake_one();
    Worker& worker(CoreId core) { return workers_[core]; }
    NodeId id() const { return id_; }
    std::vector<Token>& tokens() { return tokens_; }

    bool may_request();
    void request_ended() { --under_way_; }

private:
    void serve(s4u::Mailbox& mailbox);
    void receive(Message& message);
    void on_request(NodeId thief, CoreId core);
    void on_tokens(Message& message);

    Cluster& cluster_;
    NodeId id_;
    s4u::Host& host_;
    s4u::Mailbox* near_;  ///< for messages of its own group
    s4u::Mailbox* far_;
    std::deque<Worker> workers_;
    std::vector<Token> tokens_;
    CoreId next_core_ = 0;
    std::uint32_t under_way_ = 0;  ///< steal requests
};

/// What all share: they are in one thread, and only one of them runs at a time.
struct Cluster {
    const runtime::Schedule& schedule;
    const Search& search;
    runtime::Topology topology;
    std::deque<Node> nodes = {};
    bool stopping = false;
    Outcome outcome = {};

    void stop() {
        stopping = true;
        for (Node& node : nodes) {
            for (CoreId core = 0; core < topology.cores; ++core) node.worker(core).wake_for_end();
        }
    }
};

constexpr double for_ever = -1;

runtime::ThiefView thief_view(const Cluster& cluster, NodeId node, CoreId core) {
    const Random random = Random(cluster.schedule.seed).split(node).split(core);
    return {{node, core}, &cluster.topology, &cluster.schedule.stealing, random.split(1)};
}

Worker::Worker(Cluster& cluster, Node& node, CoreId core)
    : deque_(cluster.schedule.deque_slots, false),
      cluster_(cluster),
      node_(node),
      core_(core),
      policy_(make_victim_policy(thief_view(cluster, node.id(), core))),
      back_off_(cluster.schedule.stealing.back_off_min) {}

// --- tasks

UtsCount Worker::search(const UtsNode& node, Slot* head) {
    ++cluster_.outcome.tasks;
    const Search& search = cluster_.search;
    if (search.working == Working::execute) {
        s4u::this_actor::execute(search.task_flops);
    } else {
        s4u::this_actor::sleep_for(search.task_flops / s4u::this_actor::get_host()->get_speed());
    }
    const std::int32_t children = search.tree.children(node);
    for (std::int32_t i = 0; i < children; ++i) {
        ::new (static_cast<void*>(head->payload)) UtsNode(workloads::UtsTree::child(node, i));
        ++head;
        if (deque_.asked()) serve_request(head);
    }
    UtsCount count{1, children == 0 ? 1U : 0U, node.depth};
    for (std::int32_t i = 0; i < children; ++i) count += join(--head);
    return count;
}

UtsCount Worker::join(Slot* slot) {
    if (deque_.asked()) serve_request(slot);
    if (deque_.reclaim(slot) == Deque::Reclaimed::mine) return search(task_of(*slot), slot);
    wait_for(slot);
    deque_.release(slot);
    return result_of(*slot);
}

/// A task that was found somewhere.
UtsCount Worker::begin(const UtsNode& node, Slot* head) {
    policy_->found();
    failures_ = 0;
    back_off_ = cluster_.schedule.stealing.back_off_min;
    ++depth_;
    const UtsCount count = search(node, head);
    --depth_;
    return count;
}

void Worker::serve_request(const Slot* head) {
    if (deque_.publish(head) == 0 && deque_.shared() == 0) return;
    deque_.answer();
    node_.wake_one();
}

void Worker::wait_for(Slot* slot) {
    Slot* head = slot + 1;
    while (slot->state != Slot::done) {
        const std::uint64_t state = slot->state;
        const bool leapt = state >= taken_by(0) && steal_from(static_cast<CoreId>(state - taken_by(0)), head);
        if (!leapt && slot->state != Slot::done) run_something(head, slot);
    }
}

// --- looking for work

bool Worker::run_something(Slot* head, const Slot* awaited) {
    if (run_token(head)) return true;
    const runtime::Stealing& settings = cluster_.schedule.stealing;
    if (awaited && depth_ >= deep) {
        rest(to_seconds(settings.back_off_max), awaited);
        return false;
    }
    if (awaiting_answer_) {
        rest(for_ever, awaited);
        if (!requesting_) awaiting_answer_ = false;
        return scan_node(core_ + 1, head);
    }
    const Victim victim = policy_->next();
    if (victim.kind == Victim::Kind::core) return steal_from(victim.index, head);
    if (victim.kind == Victim::Kind::colleagues) return scan_node(victim.index, head);
    if (victim.kind == Victim::Kind::node && node_.may_request()) {
        awaiting_answer_ = requesting_ = true;
        node_.send(victim.index, {.kind = Message::Kind::request, .core = core_});
        return false;
    }
    if (++failures_ >= settings.retries) back_off_ = settings.back_off_max;
    rest(to_seconds(back_off_), awaited);
    back_off_ = std::min(2 * back_off_, settings.back_off_max);
    return scan_node(core_ + 1, head);
}

bool Worker::run_token(Slot* head) {
    if (node_.tokens().empty()) return false;
    const Token token = node_.tokens().back();
    node_.tokens().pop_back();
    const UtsCount count = begin(token.task, head);
    if (token.home.node == node_.id()) {
        Worker& owner = node_.worker(token.home.core);
        complete(*owner.deque().slot(token.home.index), count);
        owner.wake();
    } else {
        node_.send(token.home.node, {.kind = Message::Kind::result, .home = token.home, .count = count});
    }
    return true;
}

bool Worker::scan_node(CoreId begin, Slot* head) {
    const CoreId cores = cluster_.topology.cores;
    for (CoreId i = 0; i < cores; ++i) {
        const CoreId core = (begin + i) % cores;
        if (core != core_ && steal_from(core, head)) return true;
    }
    return false;
}

bool Worker::steal_from(CoreId victim, Slot* head) {
    Worker& owner = node_.worker(victim);
    Slot* slot = owner.deque_.take();
    if (owner.deque_.shared() == 0) owner.deque_.ask();
    if (!slot) return false;
    slot->state = taken_by(core_);
    ++cluster_.outcome.steals_within_node;
    complete(*slot, begin(task_of(*slot), head));
    owner.wake();
    return true;
}

// --- sleeping

void Worker::rest(double seconds, const Slot* awaited) {
    sleeping_ = true;
    if (!something_to_do(awaited)) {
        if (seconds < 0) {
            wake_up_->acquire();
        } else {
            wake_up_->acquire_timeout(seconds);
        }
    }
    sleeping_ = false;
}

bool Worker::something_to_do(const Slot* awaited) const {
    if (cluster_.stopping || !node_.tokens().empty()) return true;
    if (awaited && awaited->state == Slot::done) return true;
    if (awaited && depth_ >= deep) return false;
    if (awaiting_answer_ && !requesting_) return true;
    for (CoreId core = 0; core < cluster_.topology.cores; ++core) {
        if (core == core_) continue;
        Deque& deque = node_.worker(core).deque();
        if (deque.shared() != 0) return true;
        deque.ask();
    }
    return false;
}

bool Worker::wake() {
    if (!sleeping_) return false;
    sleeping_ = false;
    wake_up_->release();
    return true;
}

void Worker::request_answered() {
    node_.request_ended();
    requesting_ = false;
    wake();
}

void Worker::run() {
    if (node_.id() == 0 && core_ == 0) {
        Outcome& outcome = cluster_.outcome;
        outcome.count = begin(cluster_.search.tree.root(), deque_.base());
        outcome.makespan_seconds = s4u::Engine::get_clock();
        cluster_.stop();
    }
    while (!cluster_.stopping) run_something(deque_.base(), nullptr);
}

// --- nodes

Node::Node(Cluster& cluster, NodeId id, s4u::Host& host)
    : cluster_(cluster),
      id_(id),
      host_(host),
      near_(s4u::Mailbox::by_name(host.get_name() + " near")),
      far_(s4u::Mailbox::by_name(host.get_name() + " far")) {
    for (CoreId core = 0; core < cluster.topology.cores; ++core) workers_.emplace_back(cluster, *this, core);
}

void Node::start() {
    // A mailbox hands over in the order of sending. One from afar would hold up those from near by that
    // arrive before it.
    for (s4u::Mailbox* mailbox : {near_, far_})
        s4u::Actor::create("receiver", &host_, [this, mailbox] { serve(*mailbox); })->daemonize();
    for (Worker& worker : workers_) s4u::Actor::create("worker", &host_, [&worker] { worker.run(); });
}

void Node::send(NodeId to, Message message) {
    message.from = id_;
    const std::uint64_t bytes = message.bytes();
    ++cluster_.outcome.messages;
    cluster_.outcome.bytes += bytes;
    Node& receiver = cluster_.nodes[to];
    const auto& group = cluster_.topology.group;
    s4u::Mailbox& mailbox = group[to] == group[id_] ? *receiver.near_ : *receiver.far_;
    mailbox.put_init(new Message(std::move(message)), bytes)->detach();
}

bool Node::may_request() {
    if (under_way_ == cluster_.schedule.stealing.requests) return false;
    ++under_way_;
    return true;
}

void Node::wake_one() {
    for (Worker& worker : workers_) {
        if (worker.wake()) return;
    }
}

void Node::serve(s4u::Mailbox& mailbox) {
    mailbox.set_receiver(s4u::Actor::self());  // messages travel at once, not when they are asked for
    for (;;) receive(*mailbox.get_unique<Message>());
}

void Node::receive(Message& message) {
    switch (message.kind) {
        case Message::Kind::request:
            on_request(message.from, message.core);
            break;
        case Message::Kind::refusal:
            workers_[message.core].request_answered();
            break;
        case Message::Kind::tokens:
            on_tokens(message);
            break;
        case Message::Kind::result: {
            Worker& owner = workers_[message.home.core];
            complete(*owner.deque().slot(message.home.index), message.count);
            owner.wake();
            break;
        }
    }
}

void Node::on_request(NodeId thief, CoreId core) {
    const CoreId cores = cluster_.topology.cores;
    std::uint32_t wanted = 1;
    if (cluster_.schedule.stealing.amount == runtime::Stealing::Amount::half) {
        std::uint32_t shared = 0;
        for (Worker& worker : workers_) shared += worker.deque().shared();
        wanted = std::clamp((shared + 1) / 2, 1U, most_at_once);
    }
    Message answer{.kind = Message::Kind::tokens, .core = core};
    while (answer.tokens.size() < wanted && tokens_.size() > cores) {
        answer.tokens.push_back(tokens_.back());
        tokens_.pop_back();
    }
    const CoreId first = next_core_++ % cores;
    for (CoreId c = 0; c < cores && answer.tokens.size() < wanted; ++c) {
        const CoreId owner = (first + c) % cores;
        Deque& deque = workers_[owner].deque();
        while (answer.tokens.size() < wanted) {
            Slot* slot = deque.take();
            if (!slot) break;
            answer.tokens.push_back({{id_, owner, deque.index(slot)}, task_of(*slot)});
        }
        if (deque.shared() == 0) deque.ask();
    }
    if (answer.tokens.empty()) {
        for (Worker& worker : workers_) {
            if (worker.deque().shared() == 0) worker.deque().ask();
        }
        answer.kind = Message::Kind::refusal;
    }
    send(thief, std::move(answer));
}

void Node::on_tokens(Message& message) {
    const std::size_t count = message.tokens.size();
    cluster_.outcome.steals_between_nodes += count;
    tokens_.insert(tokens_.end(), message.tokens.begin(), message.tokens.end());
    workers_[message.core].request_answered();
    for (std::size_t i = 1; i < count; ++i) wake_one();
}

}  // namespace

Outcome search_with_actors(const Hosts& hosts, const Platform& platform, const runtime::Schedule& schedule,
                           const Search& search) {
    runtime::Topology topology;
    topology.nodes = platform.nodes;
    topology.cores = std::max(platform.cores, CoreId{1});
    topology.group = hosts.group;
    topology.distances = NodeDistances(topology.group, nullptr, Time::zero());
    Cluster cluster{.schedule = schedule, .search = search, .topology = topology};
    for (NodeId id = 0; id < topology.nodes; ++id)
        cluster.nodes.emplace_back(cluster, id, *hosts.of_node[id]);
    for (Node& node : cluster.nodes) node.start();
    s4u::Engine::get_instance()->run();
    return cluster.outcome;
}

}  // namespace heddle::actors
