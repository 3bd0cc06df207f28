// Exchanges messages that handlers count and answer, without threads.
#include "workloads/bare_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/assert.hpp"
#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"

namespace heddle::workloads::pairs {

namespace {

using runtime::Handler;
using runtime::Node;

/// What a process knows of the exchange. Of handlers, and of the thread that waits.
struct Bare final : runtime::State<Node> {
    explicit Bare(Node& /*node*/) {}

    class End final : public runtime::Event {
    public:
        std::string what() const override { return "the end of a bare exchange"; }
    };

    std::uint64_t received = 0;
    std::uint64_t wrong = 0;
    std::vector<std::uint64_t> next;  ///< of a stream's sender: the number expected in each lane, and
    std::uint64_t bytes = 0;          ///< the size of its messages
    End end;
};

/// A message's head; the rest is padding.
struct Head {
    std::uint64_t number;
    std::uint64_t last;
    std::uint64_t bytes;
};
static_assert(sizeof(Head) == bare_bytes_min);

extern const Handler ball;
extern const Handler drop;

void send(runtime::Outbox& outbox, NodeId to, const Handler& handler, const Head& head) {
    const std::uint64_t rest = head.bytes > sizeof head ? head.bytes - sizeof head : 0;
    outbox.post(to, handler, runtime::bytes_of(head), runtime::Enclosure{nullptr, rest});
}

/// What the other side says.
Head head_of(std::span<const std::byte> message) {
    runtime::Reader reader(message);
    const auto head = reader.get<Head>();
    reader.check();
    return head;
}

/// Counts a message, whose number must be `expected`.
void count(Bare& bare, const Head& head, std::uint64_t expected) {
    ++bare.received;
    if (head.number != expected) ++bare.wrong;
}

/// To and fro: odd numbers come back to process 0.
const Handler ball("pairs.ball", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    auto& bare = node.state<Bare>();
    const bool first = node.id() == 0;
    Head head = head_of(message);
    count(bare, head, 2 * bare.received + (first ? 1 : 0));
    if (first && head.number == head.last) return bare.end.complete(node, node.receiver());
    ++head.number;
    send(node.receiver_outbox(), from, ball, head);
});

/// A stream, whose messages are acknowledged one by one: then process 0 sends one more. Its worker and its
/// receiver send at the same time, so the receiver's message may pass one of the worker's. A lane, the
/// numbers that are the same modulo the window, has one message under way, and so an order.
const Handler drop("pairs.drop", Handler::Kind::work, [](Node& node, NodeId from, auto message) {
    Head head = head_of(message);
    if (node.id() != 0) {
        head.bytes = 0;
        return send(node.receiver_outbox(), from, drop, head);
    }
    auto& bare = node.state<Bare>();
    std::uint64_t& expected = bare.next[head.number % bare.next.size()];
    count(bare, head, expected);
    if (bare.received == head.last + 1) return bare.end.complete(node, node.receiver());
    expected += bare.next.size();
    head.number = expected;
    head.bytes = bare.bytes;
    if (head.number <= head.last) send(node.receiver_outbox(), from, drop, head);
});

NodeId other_process(const messaging::Thread& self) {
    const NodeId other = self.members().back();
    HEDDLE_ASSERT(other != 0);  // PairsWorkload::prepare
    return other;
}

BareOutcome outcome_of(messaging::Thread& self, Bare& bare) {
    self.strand().wait(bare.end);
    return {bare.received, bare.wrong};
}

}  // namespace

BareOutcome exchange_bare(messaging::Thread& self, const Exchange& exchange) {
    const NodeId other = other_process(self);
    send(self.worker().outbox(), other, ball, Head{0, 2 * exchange.messages - 1, exchange.bytes});
    return outcome_of(self, self.worker().node().state<Bare>());
}

BareOutcome stream_bare(messaging::Thread& self, const Exchange& exchange) {
    const NodeId other = other_process(self);
    auto& bare = self.worker().node().state<Bare>();
    const std::uint64_t window = std::min(exchange.window, exchange.messages);
    // Before the first message: its acknowledgement may come while others are sent.
    bare.next.resize(window);
    std::iota(bare.next.begin(), bare.next.end(), std::uint64_t{0});
    bare.bytes = exchange.bytes;
    for (std::uint64_t i = 0; i < window; ++i)
        send(self.worker().outbox(), other, drop, Head{i, exchange.messages - 1, exchange.bytes});
    return outcome_of(self, bare);
}

}  // namespace heddle::workloads::pairs
