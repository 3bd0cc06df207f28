// Detects the end of a run: waves that ask all nodes along a tree, and the nodes' reports to node 0.
#include "runtime/run/termination.hpp"

#include <utility>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"

namespace heddle::runtime {

namespace {

void stop_if(bool over, Node& node) {
    if (over) node.end(node.receiver_outbox());
}

const Handler wave_handler("termination.wave", Handler::Kind::control, [](Node& node, NodeId, auto) {
    stop_if(node.termination().wave(node.receiver_outbox()), node);
});

const Handler answer_handler("termination.answer", Handler::Kind::control,
                             [](Node& node, NodeId, auto message) {
                                 const auto answer = value_in<WaveAnswer>(message);
                                 stop_if(node.termination().answer(node.receiver_outbox(), answer), node);
                             });

const Handler report_handler("termination.report", Handler::Kind::control,
                             [](Node& node, NodeId, auto message) {
                                 const auto difference = value_in<std::int64_t>(message);
                                 stop_if(node.termination().report(node.receiver_outbox(), difference), node);
                             });

}  // namespace

Termination::Termination(NodeId node, NodeId nodes, std::function<bool()> passive,
                         std::function<std::uint64_t()> waiters)
    : node_(node), nodes_(nodes), passive_(std::move(passive)), count_waiters_(std::move(waiters)) {
    for_children([this](NodeId) { ++children_; });
}

void Termination::for_children(const std::function<void(NodeId)>& visit) const {
    const std::uint64_t first = std::uint64_t{node_} * arity + 1;
    for (std::uint64_t child = first; child < first + arity && child < nodes_; ++child) {
        visit(static_cast<NodeId>(child));
    }
}

void Termination::begin_wave(Outbox& outbox) {
    for_children([&](NodeId child) { outbox.post(child, wave_handler, {}); });
}

bool Termination::wave(Outbox& outbox) {
    {
        const SpinLock::Guard guard(lock_);
        expect_wave();
    }
    begin_wave(outbox);
    return look(outbox);
}

bool Termination::answer(Outbox& outbox, const WaveAnswer& from_child) {
    {
        const SpinLock::Guard guard(lock_);
        wave_sent_ += from_child.sent;
        wave_received_ += from_child.received;
        wave_waiters_ += from_child.waiters;
        from_below_ += from_child.difference;
        --answers_missing_;
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

void Termination::expect_wave() {
    pending_ = asked_ = true;
    answers_missing_ = children_;
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
    answer.sent = wave_sent_ + sent_.load(std::memory_order_seq_cst);
    answer.received = wave_received_ + received_.load(std::memory_order_seq_cst);
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
    if (over_ || (pending_ && answers_missing_ != 0)) return Step::none;
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
        expect_wave();
        return Step::ask_children;
    }
    answer.difference = take_difference();
    return answer.difference != 0 ? Step::report : Step::none;
}

bool Termination::look(Outbox& outbox) {
    for (;;) {
        WaveAnswer answer;
        Step step{};
        {
            const SpinLock::Guard guard(lock_);
            step = next_step(answer);
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
            case Step::answer:
                outbox.post(parent(), answer_handler, std::as_bytes(std::span(&answer, 1)));
                return false;
            case Step::report:
                outbox.post(parent(), report_handler, std::as_bytes(std::span(&answer.difference, 1)));
                return false;
        }
    }
}

}  // namespace heddle::runtime
