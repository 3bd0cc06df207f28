// Tests the detection of a run's end: never too early, and without messages while nothing changes.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "runtime/comm/wire.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"

namespace heddle::runtime {
namespace {

/// A walk over the nodes: `hops` messages one after the other.
struct Walk {
    std::uint32_t hops = 0;
    std::uint32_t seed = 0;
};

class Walks final : public Program {
public:
    explicit Walks(NodeId node) : node_(node) {}
    void begin(Worker& worker) override;
    Answer answer() const override { return {{"hops", static_cast<double>(hops)}}; }

    std::uint64_t hops = 0;  ///< of walks that came here; handlers run one at a time

private:
    NodeId node_;
};

NodeId next_node(const Node& node, Walk walk) {
    return static_cast<NodeId>(Random(walk.seed).split(walk.hops).below(node.topology().nodes));
}

extern const Handler hop_handler;

/// A task that sends a walk on, so that it also passes through workers.
void run_hop(Worker& worker, Slot* /*head*/, std::byte* payload) {
    Walk walk;
    std::memcpy(&walk, payload, sizeof walk);
    worker.outbox().post(next_node(worker.node(), walk), hop_handler, bytes_of(walk));
}
const TaskType hop_task("termination_test.hop", run_hop, sizeof(Walk), 0, true,
                        {.end = TaskType::End::detached});

const Handler hop_handler("termination_test.hop", Handler::Kind::work, [](Node& node, NodeId, auto message) {
    auto walk = Reader(message).get<Walk>();
    ++static_cast<Walks&>(node.program()).hops;
    if (walk.hops == 0) return;  // makes no work: the counters change, and no worker wakes
    --walk.hops;
    if (walk.hops % 3 == 0) {
        node.put_ready(node.receiver(), hop_task, bytes_of(walk));
    } else {
        node.receiver_outbox().post(next_node(node, walk), hop_handler, bytes_of(walk));
    }
});

constexpr std::uint32_t walks_each = 3;
constexpr std::uint32_t hops_each = 40;

void Walks::begin(Worker& worker) {
    if (worker.id.core != 0) return;
    for (std::uint32_t i = 0; i < walks_each; ++i) {
        const Walk walk{hops_each, 1000 * node_ + i};
        worker.outbox().post(next_node(worker.node(), walk), hop_handler, bytes_of(walk));
    }
}

TEST(Termination, IsSeenExactlyInEveryInterleaving) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        inprocess::Options options;
        options.nodes = static_cast<NodeId>(1 + seed % 9);
        options.cores = static_cast<CoreId>(1 + seed % 2);
        options.seed = seed;
        options.gate_open = seed % 3 != 0;
        for (NodeId node = 0; node < options.nodes; ++node)
            options.group.push_back(static_cast<std::uint32_t>(node % (1 + seed % 4)));
        inprocess::InprocessBackend backend(options);
        Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim =
            std::array{"none", "lifeline", "random", "satin", "hierarchical"}[seed % 5];
        Execution execution(backend, schedule, [](NodeId node) { return std::make_unique<Walks>(node); });
        const RunResult result = execution.run();
        ASSERT_TRUE(result.complete);
        EXPECT_EQ(result.answer.at(0).value, options.nodes * walks_each * (hops_each + 1.0));
    }
}

}  // namespace
}  // namespace heddle::runtime
