// Predicts the time of a collective call: walks through the steps of all ranks and gives each a time, by
// Hockney's model with overheads (Hockney: "The communication challenge for MPP: Intel Paragon and Meiko
// CS-2", 1994).
#include "model/spmd/pricing.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/time.hpp"
#include "model/spmd/collective.hpp"
#include "model/spmd/local_work.hpp"
#include "model/spmd/request.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::spmd {

namespace {

/// What travels with a message besides its elements: the signature and the endpoint's header.
constexpr double bytes_besides = sizeof(Signature) + 64;

/// What a rank may have under way to another one, in small messages.
constexpr auto window = static_cast<double>(runtime::Endpoint::window);

/// A message of so many bytes of elements is announced.
bool is_large(double bytes) {
    return bytes + sizeof(Signature) > runtime::Endpoint::eager_max;
}

struct PricedStep {
    Index count;
    RankId peer;
    Step::Kind kind;
    bool again;  ///< a send of what the send before it took
    /// It writes what the send before it reads, if that is lent, and perhaps before the receiver asks for it.
    bool over_sent = false;
};

/// The steps of a rank, without positions.
class PricedSteps final : public Steps {
public:
    void reserve(Index /*elements*/) override {}

    std::vector<PricedStep> all;

private:
    void take(const Step& step) override {
        const bool sends = step.kind == Step::Kind::send;
        if (step.kind == Step::Kind::copy && step.to == step.from) return;
        const bool local = step.kind == Step::Kind::copy || step.kind == Step::Kind::fold;
        const bool over_sent = !sends && lent_ && overlap(step.to, range_);
        all.push_back({sends ? step.from.count : step.to.count, step.peer, step.kind,
                       sends && sent_ && step.from == range_, over_sent});
        sent_ = sends || (sent_ && step.to.count == 0);
        lent_ = sends || (lent_ && local && !over_sent);
        if (sends) range_ = step.from;
    }

    bool sent_ = false;
    bool lent_ = false;  ///< nothing was received since the latest send
    Range range_{};
};

struct PricedMessage {
    double begins = 0;  ///< to flow; of a large one: when the receiver hears of it
    double bytes = 0;
    bool large = false;
};

/// What the ranks of a node share.
struct NodeProgress {
    double card_free = 0;      ///< when all before has left
    double in_free = 0;        ///< when all before has come
    double sender_free = 0;    ///< when it has sent all before
    double receiver_free = 0;  ///< when it has handled all before
};

/// What the groups of the network share: when all has left that was sent from one to another, and to all.
struct GroupProgress {
    std::map<std::pair<RankId, RankId>, double> one_free;
    std::map<RankId, double> all_free;
};

struct Progress {
    NodeProgress* node;
    GroupProgress* groups;
    double now = 0;
    bool unaccepted = false;
    double read_until = 0;  ///< by a rank of its node, what it has lent
};

/// From one rank to another.
struct PricedWay {
    bool local = false;  ///< within a node
    double latency = 0;
    RankId from_group = 0;  ///< of the network
    RankId to_group = 0;
};

class Walk {
public:
    Walk(const Prices& prices, const Levels* levels, Index element_bytes)
        : prices_(prices), levels_(levels), element_bytes_(static_cast<double>(element_bytes)) {
        if (levels_ && (!levels_->network || levels_->far_latency == 0)) levels_ = nullptr;
        if (levels_) crossing_ = levels_->crossing;
        bandwidth_ = crossing_.within > 0 ? crossing_.within : prices.bandwidth;
    }

    /// Each rank has an equal share of what its node can send, and each node of what its group can.
    void share() {
        bandwidth_ /= prices_.ranks_per_node;
        if (!levels_ || crossing_.message == 0) return;
        const RankId nodes = std::max<RankId>(1, levels_->network->least() / prices_.ranks_per_node);
        for (const double limit : {crossing_.to_one, crossing_.to_all})
            if (limit > 0) crossing_.message = std::min(crossing_.message, limit / nodes);
        crossing_.to_one = crossing_.to_all = 0;
    }

    bool shares_lines() const { return crossing_.to_one > 0 || crossing_.to_all > 0; }

    double bytes(const PricedStep& step) const { return static_cast<double>(step.count) * element_bytes_; }
    RankId node_of(RankId rank) const { return rank / prices_.ranks_per_node; }
    PricedWay way(RankId a, RankId b) const {
        if (node_of(a) == node_of(b)) return {true, 0};
        if (!levels_) return {false, prices_.latency};
        const RankId from = levels_->network->of(a), to = levels_->network->of(b);
        return {false, from == to ? levels_->near_latency : levels_->far_latency, from, to};
    }

    /// An empty message to another node, from its hand-over until its receiver has handled it.
    double trip(const PricedWay& way) const {
        return prices_.hand_over + prices_.send + way.latency + bytes_besides / bandwidth_ + prices_.receive;
    }

    double local_work(const PricedStep& step) const {
        const double size = bytes(step);
        const bool combines = step.kind == Step::Kind::combine || step.kind == Step::Kind::fold;
        return combines ? work(size, 3 * size, static_cast<double>(step.count)) : copy(size);
    }
    double copy(double size) const { return work(size, 2 * size, 0); }

    /// A copy or fold, and before it the copy of what a send has lent and has not read.
    double local_step(const PricedStep& step) const {
        const double size = bytes(step);
        const bool is_lent = step.over_sent && prices_.in_place && is_large(size);
        return local_work(step) + (is_lent ? copy(size) : 0);
    }

    PricedMessage send(Progress& from, const PricedStep& step, const PricedWay& way) const {
        const double size = bytes(step);
        NodeProgress& node = *from.node;
        const bool lends = prices_.in_place && is_large(size);
        from.now = std::max(from.now, from.read_until);
        from.now += step.again || lends ? 0 : copy(size);
        if (way.local) {
            from.unaccepted = lends;
            return {from.now, 0, lends};
        }
        const double whole = size + bytes_besides;
        if (is_large(size)) {
            from.unaccepted = true;
            return {from.now + trip(way), whole, true};
        }
        from.now += prices_.hand_over;
        node.sender_free = std::max(from.now, node.sender_free) + prices_.sending(whole);
        return {flow(from, node.sender_free, whole, way), whole, false};
    }

    void receive(Progress& to, Progress& from, PricedMessage message, const PricedStep& step,
                 const PricedWay& way) const {
        if (message.large && !way.local) {
            const double wake = prices_.wake_by_message;
            const double accepted = std::max(to.now, message.begins + wake) + trip(way) + wake;
            const double ready = std::max(accepted + prices_.hand_over + prices_.send, from.node->card_free);
            message.begins =
                flow(from, ready + prices_.sending(message.bytes) - prices_.send, message.bytes, way);
            from.unaccepted = false;
        }
        double comes = message.begins;
        if (!way.local) {
            NodeProgress& node = *to.node;
            node.in_free = std::max(comes, node.in_free) + message.bytes / bandwidth_;
            comes =
                std::max(node.in_free + way.latency, node.receiver_free) + prices_.receiving(message.bytes);
            node.receiver_free = comes;
        }
        if (comes > to.now) to.now = comes + (way.local ? prices_.wake : prices_.wake_by_message);
        const bool in_place = prices_.in_place && message.large && !way.local &&
                              step.kind == Step::Kind::receive && !step.over_sent;
        if (!in_place) to.now += local_work(step);
        if (!message.large || !way.local) return;
        if (step.over_sent) to.now += copy(bytes(step));
        from.unaccepted = false;
        from.read_until = to.now;
    }

private:
    /// Copies or combines an array of `size` bytes. The threads that help begin when they are awake, and then
    /// the leader must be woken. They share the node's memory.
    double work(double size, double moved, double operations) const {
        const double memory = moved / prices_.memory_bandwidth, alone = operations / prices_.core_speed;
        const double threads = size >= static_cast<double>(Rank::shared_bytes) ? prices_.threads : 1;
        if (threads == 1) return std::max(memory, alone);
        const double helpers = std::max(memory * (threads - 1), alone) / threads;
        return std::max({memory, alone / threads, prices_.wake + helpers}) + prices_.wake;
    }

    /// A message leaves its node, and perhaps the group of that. Returns when it begins to flow, or would if
    /// it flowed as fast as the node's link permits: it is slower from one group to another.
    double flow(Progress& from, double ready, double bytes, const PricedWay& way) const {
        double& card_free = from.node->card_free;
        const double begins = std::max(ready, card_free);
        card_free = begins + bytes / bandwidth_;
        if (way.from_group == way.to_group || crossing_.message == 0) return begins;
        // What is on a line has left when the line has carried all that came on it.
        const auto carried = [&](double& line_free, double speed) {
            if (speed > 0) line_free = std::max(line_free, begins) + bytes / speed;
            return line_free;
        };
        auto line = std::pair(way.from_group, way.to_group);
        if (!crossing_.duplex && line.second < line.first) std::swap(line.first, line.second);
        card_free = std::max({card_free, begins + bytes / crossing_.message,
                              carried(from.groups->one_free[line], crossing_.to_one),
                              carried(from.groups->all_free[way.from_group], crossing_.to_all)});
        return card_free - bytes / bandwidth_;
    }

    const Prices& prices_;
    const Levels* levels_;  ///< null: every two nodes are as far apart
    runtime::Crossing crossing_{};
    double bandwidth_;
    double element_bytes_;
};

/// More steps than these are not kept.
constexpr std::size_t steps_max = 2'000'000;

/// As if all other ranks did at each time what this one does: exact where all do the same.
double price_alone(const Walk& walk, const PricedSteps& steps, RankId rank, RankId ranks) {
    NodeProgress node;
    GroupProgress groups;
    Progress progress{&node, &groups};
    std::vector<PricedMessage> sent;
    std::size_t received = 0;
    for (const PricedStep& step : steps.all) {
        switch (step.kind) {
            case Step::Kind::send:
                sent.push_back(walk.send(progress, step, walk.way(rank, step.peer)));
                break;
            case Step::Kind::receive:
            case Step::Kind::combine:
                if (received < sent.size()) {
                    walk.receive(progress, progress, sent[received], step, walk.way(rank, step.peer));
                    ++received;
                }
                break;
            case Step::Kind::copy:
            case Step::Kind::fold:
                progress.now += walk.local_step(step);
                break;
        }
    }
    for (; received < sent.size(); ++received) {
        NodeProgress other;
        Progress receiver{&other, &groups};
        const RankId far = walk.node_of(rank) == 0 ? ranks - 1 : 0;
        walk.receive(receiver, progress, sent[received], {0, 0, Step::Kind::receive, false, false},
                     walk.way(rank, far));
        progress.now = std::max(progress.now, receiver.now);
    }
    return progress.now;
}

/// The ranks take turns, the one with the earliest time first. Where several share a node's card, or a line
/// between groups, each takes one step, else as many as it can.
class PricedRun {
public:
    PricedRun(const Walk& walk, std::vector<PricedSteps> steps)
        : walk_(walk), steps_(std::move(steps)), next_(steps_.size()) {
        const auto ranks = static_cast<RankId>(steps_.size());
        nodes_.resize(walk.node_of(ranks - 1) + 1);
        for (RankId rank = 0; rank < ranks; ++rank) {
            progress_.push_back({&nodes_[walk.node_of(rank)], &groups_});
            make_ready(rank);
        }
    }

    double seconds() {
        const bool shared = nodes_.size() < steps_.size() || walk_.shares_lines();
        while (!ready_.empty()) {
            const RankId rank = std::get<RankId>(ready_.top());
            ready_.pop();
            bool goes_on = true;
            for (bool first = true; goes_on && (first || !shared); first = false) {
                goes_on = next_[rank] < steps_[rank].all.size() && step(rank, steps_[rank].all[next_[rank]]);
                if (goes_on) ++next_[rank];
            }
            if (goes_on) make_ready(rank);
        }
        double last = 0;
        for (RankId rank = 0; rank < steps_.size(); ++rank) {
            HEDDLE_ASSERT(next_[rank] == steps_[rank].all.size());  // no algorithm deadlocks
            last = std::max({last, progress_[rank].now, progress_[rank].node->card_free});
        }
        return last;
    }

private:
    /// Messages from one rank to another.
    struct Queue {
        std::vector<PricedMessage> messages;
        std::size_t taken = 0;
        bool awaited = false;  ///< by its receiver

        // What may be under way (Endpoint::window). The receiver tells of room now and then.
        double under_way = 0;
        double told_not = 0;                            ///< received, and the sender has not been told
        std::vector<std::pair<double, double>> credit;  ///< when the sender hears of it, and how much
        std::size_t used = 0;
        bool starved = false;  ///< the sender waits for room
    };

    /// False if it must wait.
    bool step(RankId rank, const PricedStep& step) {
        Progress& progress = progress_[rank];
        switch (step.kind) {
            case Step::Kind::send: {
                if (progress.unaccepted) return false;
                Queue& queue = queue_of(rank, step.peer);
                const PricedWay way = walk_.way(rank, step.peer);
                if (!has_room(queue, progress, walk_.bytes(step), way)) return false;
                queue.messages.push_back(walk_.send(progress, step, way));
                if (std::exchange(queue.awaited, false)) make_ready(step.peer);
                return true;
            }
            case Step::Kind::receive:
            case Step::Kind::combine: {
                Queue& queue = queue_of(step.peer, rank);
                if (queue.taken == queue.messages.size()) {
                    queue.awaited = true;
                    return false;
                }
                const PricedMessage message = queue.messages[queue.taken++];
                const PricedWay way = walk_.way(rank, step.peer);
                walk_.receive(progress, progress_[step.peer], message, step, way);
                if (message.large || gives_room(queue, progress, walk_.bytes(step), way))
                    make_ready(step.peer);
                return true;
            }
            case Step::Kind::copy:
            case Step::Kind::fold:
                progress.now += walk_.local_step(step);
                return true;
        }
        return true;
    }
    /// A small message may go to the receiver now, or when the sender has been told of room.
    static bool has_room(Queue& queue, Progress& sender, double bytes, const PricedWay& way) {
        if (way.local || is_large(bytes)) return true;
        while (queue.under_way + bytes > window) {
            if (queue.used == queue.credit.size()) {
                queue.starved = true;
                return false;
            }
            const auto [at, more] = queue.credit[queue.used++];
            sender.now = std::max(sender.now, at);
            queue.under_way -= more;
        }
        queue.under_way += bytes;
        return true;
    }
    /// Such a message has been received. True: its sender waits for room.
    bool gives_room(Queue& queue, const Progress& receiver, double bytes, const PricedWay& way) const {
        if (way.local || is_large(bytes)) return false;
        queue.told_not += bytes;
        if (queue.told_not < window / 4) return false;
        queue.credit.emplace_back(receiver.now + walk_.trip(way), std::exchange(queue.told_not, 0));
        return std::exchange(queue.starved, false);
    }
    void make_ready(RankId rank) { ready_.emplace(progress_[rank].now, next_[rank], rank); }
    Queue& queue_of(RankId from, RankId to) { return queues_[std::uint64_t{from} << 32U | to]; }

    const Walk& walk_;
    std::vector<PricedSteps> steps_;
    std::vector<NodeProgress> nodes_;
    GroupProgress groups_;
    std::vector<Progress> progress_;
    std::vector<std::size_t> next_;
    /// Of equal times first the rank that has done fewer steps: what it sends leaves first.
    using Ready = std::tuple<double, std::size_t, RankId>;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
    std::unordered_map<std::uint64_t, Queue> queues_;  // never iterated over
};

PricedSteps steps_of(const Algorithm& algorithm, Call call, RankId rank) {
    call.rank = rank;
    PricedSteps steps;
    algorithm.steps(call, steps);
    return steps;
}

/// So many levels have groups.
int levels_in(const Call& call) {
    if (!call.levels || !call.levels->two) return 1;
    return call.levels->three->above() ? 3 : 2;
}

}  // namespace

double Prices::sending(double bytes) const {
    if (message_bytes.empty()) return send + bytes * send_byte;
    return send +
           to_seconds(time_of_bytes(message_bytes, &MessageBytes::send, static_cast<std::uint64_t>(bytes)));
}

double Prices::receiving(double bytes) const {
    if (message_bytes.empty()) return receive + bytes * receive_byte;
    return receive + to_seconds(time_of_bytes(message_bytes, &MessageBytes::receive,
                                              static_cast<std::uint64_t>(bytes)));
}

Prices Prices::of(const runtime::Topology& topology, const Overheads& overheads) {
    Prices prices;
    if (topology.latency > Time::zero()) prices.latency = to_seconds(topology.latency);
    if (topology.bandwidth > 0) prices.bandwidth = topology.bandwidth;
    if (topology.core_speed > 0) prices.core_speed = topology.core_speed;
    prices.hand_over = to_seconds(overheads.message_match) + to_seconds(overheads.message_enqueue);
    prices.send = to_seconds(overheads.message_send);
    prices.send_byte = to_seconds(overheads.message_send_kib) / 1024;
    prices.receive = to_seconds(overheads.message_receive);
    prices.receive_byte = to_seconds(overheads.message_receive_kib) / 1024;
    prices.message_bytes = overheads.message_bytes;
    prices.wake = to_seconds(overheads.wake_up) + to_seconds(overheads.unpark) +
                  to_seconds(overheads.strand_switch) + to_seconds(overheads.message_match);
    prices.wake_by_message = prices.wake + to_seconds(overheads.wake_up_message);
    if (topology.receives && overheads.wake_up_receiving > Time::zero())
        prices.wake_by_message = to_seconds(overheads.wake_up_receiving) +
                                 to_seconds(overheads.strand_switch) + to_seconds(overheads.message_match);
    return prices;
}

double price(const Algorithm& algorithm, const Call& call, Index element_bytes, const Prices& prices) {
    std::vector<PricedSteps> all{steps_of(algorithm, call, 0)};
    if (call.root != 0) all.front() = steps_of(algorithm, call, call.root);
    if (all.front().all.size() > steps_max / call.ranks) {
        Walk walk(prices, call.levels, element_bytes);
        walk.share();
        return price_alone(walk, all.front(), call.root, call.ranks);
    }
    const Walk walk(prices, call.levels, element_bytes);
    all.clear();
    for (RankId rank = 0; rank < call.ranks; ++rank) all.push_back(steps_of(algorithm, call, rank));
    return PricedRun(walk, std::move(all)).seconds();
}

const Algorithm& cheapest(Operation operation, const Call& call, Index element_bytes, bool commutes,
                          const Prices& prices) {
    using Key = std::tuple<Operation, RankId, bool, Index, Index, bool, std::uint64_t, Prices>;
    static runtime::SpinLock lock;
    static std::map<Key, const Algorithm*> known;
    // Links are alike, so it only matters whether the root is the first rank.
    Call asked = call;
    asked.root = call.root == 0 || call.ranks == 1 ? 0 : 1;
    const std::uint64_t levels = call.levels ? call.levels->fingerprint() : 0;
    const Key key{operation,     call.ranks, asked.root != 0, call.count,
                  element_bytes, commutes,   levels,          prices};
    {
        const runtime::SpinLock::Guard guard(lock);
        if (const auto found = known.find(key); found != known.end()) return *found->second;
    }
    const Algorithm* best = nullptr;
    double least = 0;
    for (const Algorithm& algorithm : all_algorithms()) {
        if (algorithm.operation != operation || (algorithm.commutes && !commutes)) continue;
        if (algorithm.levels > levels_in(call)) continue;  // it is another one
        const double seconds = price(algorithm, asked, element_bytes, prices);
        if (best && seconds >= least) continue;
        best = &algorithm;
        least = seconds;
    }
    if (!best) best = &find_algorithm(operation, "");  // which refuses the operator
    const runtime::SpinLock::Guard guard(lock);
    return *known.emplace(key, best).first->second;
}

}  // namespace heddle::spmd
