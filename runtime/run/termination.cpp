// Detects the end of a run: waves that ask all nodes along a tree, and the nodes' reports to node 0.
#include "runtime/run/termination.hpp"

#include <algorithm>
#include <utility>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"

namespace heddle::runtime {

namespace {

void stop_if(bool over, Node& node) {
    if (over) node.end(node.receiver_outbox());
}

/// Its number, and nothing where the nodes do not change.
WaveNumber number_in(Reader& reader) {
    return reader.done() ? 0 : reader.get<WaveNumber>();
}

const Handler wave_handler(
    "termination.wave", Handler::Kind::control,
    [](Node& node, NodeId, auto message) {
        Reader reader(message);
        const WaveNumber number = number_in(reader);
        reader.check();
        stop_if(node.termination().wave(node.receiver_outbox(), number), node);
    },
    Handler::IfGone::drop);  // node 0 begins another among those that are left

const Handler answer_handler(
    "termination.answer", Handler::Kind::control,
    [](Node& node, NodeId, auto message) {
        Reader reader(message);
        const auto answer = reader.get<WaveAnswer>();
        const WaveNumber number = number_in(reader);
        reader.check();
        stop_if(node.termination().answer(node.receiver_outbox(), answer, number), node);
    },
    Handler::IfGone::here);  // its difference goes to another parent

const Handler report_handler(
    "termination.report", Handler::Kind::control,
    [](Node& node, NodeId, auto message) {
        const auto difference = value_in<std::int64_t>(message);
        stop_if(node.termination().report(node.receiver_outbox(), difference), node);
    },
    Handler::IfGone::here);

}  // namespace

Termination::Termination(NodeId node, NodeId nodes, std::function<bool()> passive,
                         std::function<std::uint64_t()> waiters)
    : node_(node), passive_(std::move(passive)), count_waiters_(std::move(waiters)) {
    if (node != 0) parent_ = (node - 1) / arity;
    const std::uint64_t first = std::uint64_t{node} * arity + 1;
    for (std::uint64_t child = first; child < first + arity && child < nodes; ++child)
        children_.push_back(static_cast<NodeId>(child));
}

void Termination::for_children(const std::function<void(NodeId)>& visit) const {
    for (const NodeId child : children_) visit(child);
}

void Termination::begin_wave(Outbox& outbox) {
    if (!changes_) [[likely]] {
        for (const NodeId child : children_) outbox.post(child, wave_handler, {});
        return;
    }
    std::vector<NodeId> children;
    WaveNumber number = 0;
    {
        const SpinLock::Guard guard(lock_);
        children = children_;
        number = wave_;
    }
    for (const NodeId child : children) outbox.post(child, wave_handler, bytes_of(number));
}

bool Termination::wave(Outbox& outbox, WaveNumber number) {
    {
        const SpinLock::Guard guard(lock_);
        if (changes_) {
            const auto epoch = static_cast<Epoch>(number >> 32);
            if (epoch > epoch_) kept_wave_ = number;
            if (epoch != epoch_ || number <= wave_ || out_) return false;
        }
        expect_wave(number);
    }
    begin_wave(outbox);
    return look(outbox);
}

bool Termination::answer(Outbox& outbox, const WaveAnswer& from_child, WaveNumber number) {
    {
        const SpinLock::Guard guard(lock_);
        from_below_ += from_child.difference;
        if (!changes_ || (pending_ && number == wave_)) {
            wave_sent_ += from_child.sent;
            wave_received_ += from_child.received;
            wave_waiters_ += from_child.waiters;
            --answers_missing_;
        }
    }
    return look(outbox);
}

void Termination::follow(const MemberList& members) {
    epoch_ = members.epoch;
    pending_ = false;
    children_.clear();
    const std::uint64_t place = members.place_of(node_);
    if (place != 0) parent_ = members.nodes[(place - 1) / arity];
    for (std::uint64_t child = place * arity + 1; child <= (place + 1) * arity; ++child)
        if (child < members.nodes.size()) children_.push_back(members.nodes[child]);
    if (node_ != 0) return;
    asked_ = false;
    last_received_ = ~std::uint64_t{0};
}

/// True: the wave that was kept is one of this epoch, and is expected now.
bool Termination::take_kept_wave() {
    const SpinLock::Guard guard(lock_);
    if (!kept_wave_ || static_cast<Epoch>(*kept_wave_ >> 32) != epoch_) return false;
    expect_wave(*std::exchange(kept_wave_, std::nullopt));
    return true;
}

bool Termination::change(Outbox& outbox, const MemberList& members, bool holds) {
    {
        const SpinLock::Guard guard(lock_);
        follow(members);
        holds_ = holds && node_ == 0;
    }
    if (take_kept_wave()) begin_wave(outbox);
    return look(outbox);
}

void Termination::step_out() {
    const SpinLock::Guard guard(lock_);
    out_ = true;
    pending_ = false;
}

WaveAnswer Termination::last_counts() {
    const SpinLock::Guard guard(lock_);
    const std::int64_t difference = take_difference();
    return {sent_.load(std::memory_order_seq_cst), received_.load(std::memory_order_seq_cst), 0, difference};
}

bool Termination::add_leaver(Outbox& outbox, const WaveAnswer& counts) {
    {
        const SpinLock::Guard guard(lock_);
        leavers_.sent += counts.sent;
        leavers_.received += counts.received;
        under_way_ += counts.difference;
        holds_ = false;
    }
    return look(outbox);
}

bool Termination::report(Outbox& outbox, std::int64_t difference) {
    {
        const SpinLock::Guard guard(lock_);
        from_below_ += difference;
    }
    return look(outbox);
}

void Termination::expect_wave(WaveNumber number) {
    wave_ = number;
    pending_ = asked_ = true;
    answers_missing_ = static_cast<NodeId>(children_.size());
    wave_sent_ = wave_received_ = wave_waiters_ = 0;
}

/// What the node and its part of the tree sent less what they received, since it was last passed on.
std::int64_t Termination::take_difference() {
    // Received first: if a message is counted in between, a later look reports it.
    const std::uint64_t received = received_.load(std::memory_order_seq_cst);
    const auto now = static_cast<std::int64_t>(sent_.load(std::memory_order_seq_cst) - received);
    return std::exchange(from_below_, 0) + now - std::exchange(told_, now);
}

/// Ends a wave whose answers are all here, on a passive node.
Termination::Step Termination::end_wave(WaveAnswer& answer) {
    pending_ = false;
    answer.sent = leavers_.sent + wave_sent_ + sent_.load(std::memory_order_seq_cst);
    answer.received = leavers_.received + wave_received_ + received_.load(std::memory_order_seq_cst);
    answer.waiters = wave_waiters_ + count_waiters_();
    answer.difference = take_difference();
    if (node_ != 0) return Step::answer;
    waiters_ = answer.waiters;
    under_way_ += answer.difference;
    over_ = answer.sent == std::exchange(last_received_, answer.received);
    return over_ ? Step::over : Step::none;
}

/// By the caller that holds the lock: changes the state, and says what must be sent after the lock.
Termination::Step Termination::next_step(WaveAnswer& answer) {
    if (over_ || holds_ || out_ || (pending_ && answers_missing_ != 0)) return Step::none;
    if (node_ != 0 && !asked_) return Step::none;  // the first wave will ask
    if (!passive_()) return Step::none;
    if (pending_) {
        const Step step = end_wave(answer);
        if (step != Step::none) return step;
    }
    if (node_ == 0) {
        under_way_ += take_difference();
        // The first wave is unconditional: the other nodes report only after it.
        if (asked_ && under_way_ != 0) return Step::none;
        expect_wave(changes_ ? std::max(wave_ + 1, WaveNumber{epoch_} << 32) : 0);
        return Step::ask_children;
    }
    answer.difference = take_difference();
    return answer.difference != 0 ? Step::report : Step::none;
}

bool Termination::look(Outbox& outbox) {
    for (;;) {
        WaveAnswer answer;
        Step step{};
        NodeId parent = 0;
        WaveNumber wave = 0;
        {
            const SpinLock::Guard guard(lock_);
            step = next_step(answer);
            parent = parent_;
            wave = wave_;
        }
        switch (step) {
            case Step::none:
                return false;
            case Step::over:
                return true;
            case Step::ask_children:
                // Without children the wave is complete: go on with it.
                begin_wave(outbox);
                break;
            case Step::answer: {
                const auto bytes = changes_ ? bytes_of(wave) : std::span<const std::byte>();
                outbox.post(parent, answer_handler, bytes_of(answer), Outbox::Urgency::now, bytes);
                return false;
            }
            case Step::report:
                outbox.post(parent, report_handler, bytes_of(answer.difference));
                return false;
        }
    }
}

}  // namespace heddle::runtime
