#include "runtime/termination.hpp"

#include <utility>

#include "runtime/node.hpp"
#include "runtime/wire.hpp"

namespace heddle::runtime {

namespace {

struct WaveAnswer {
    std::uint64_t sent;
    std::uint64_t received;
};

const Handler wave_handler("termination.wave", Handler::Kind::control, [](Node& node, NodeId, auto) {
    if (node.termination().wave(node.receiver_outbox())) node.stop(node.receiver(), node.receiver_outbox());
});

const Handler answer_handler("termination.answer", Handler::Kind::control,
                             [](Node& node, NodeId, auto message) {
                                 const auto answer = value_in<WaveAnswer>(message);
                                 if (node.termination().answer(node.receiver_outbox(), answer.sent,
                                                               answer.received)) {
                                     node.stop(node.receiver(), node.receiver_outbox());
                                 }
                             });

}  // namespace

Termination::Termination(NodeId node, NodeId nodes, std::function<bool()> passive)
    : node_(node), nodes_(nodes), passive_(std::move(passive)) {
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
        pending_ = true;
        answers_missing_ = children_;
        wave_sent_ = wave_received_ = 0;
    }
    begin_wave(outbox);
    return look(outbox);
}

bool Termination::answer(Outbox& outbox, std::uint64_t sent, std::uint64_t received) {
    {
        const SpinLock::Guard guard(lock_);
        wave_sent_ += sent;
        wave_received_ += received;
        --answers_missing_;
    }
    return look(outbox);
}

bool Termination::look(Outbox& outbox) {
    for (;;) {
        WaveAnswer answer{};
        bool another = false;
        {
            const SpinLock::Guard guard(lock_);
            if (over_) return false;
            if (!pending_) {
                if (node_ != 0) return false;
                // Node 0 keeps a wave under way from the first time that it is passive.
                if (!passive_()) return false;
                pending_ = another = true;
                answers_missing_ = children_;
                wave_sent_ = wave_received_ = 0;
            } else {
                if (answers_missing_ != 0 || !passive_()) return false;
                answer = {wave_sent_ + sent_.load(std::memory_order_seq_cst),
                          wave_received_ + received_.load(std::memory_order_seq_cst)};
                pending_ = false;
                if (node_ == 0) {
                    over_ = answer.sent == last_received_;
                    last_received_ = answer.received;
                    if (over_) return true;
                }
            }
        }
        if (another) {
            begin_wave(outbox);
        } else if (node_ != 0) {
            outbox.post(static_cast<NodeId>((node_ - 1) / arity), answer_handler,
                        std::as_bytes(std::span(&answer, 1)));
            return false;
        }
    }
}

}  // namespace heddle::runtime
