// Tests simulated sender modules that send sequences: which messages travel together, and when they arrive.
// Programs do not notice. Sending costs 1 us a message, links have 1 byte a nanosecond.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "runtime/comm/outbox.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

struct Come {
    NodeId at;
    std::size_t bytes;
    Time time;
    bool operator==(const Come&) const = default;
};

void PrintTo(const Come& come, std::ostream* out) {
    *out << come.bytes << " bytes at node " << come.at << ", " << come.time.count() << " ps";
}

Platform costly(NodeId nodes, CoreId cores = 1) {
    Platform platform = ideal(nodes, cores);
    platform.overheads.message_send = us(1);
    return platform;
}

/// What comes, in the order of arrival, if each worker of node 0 runs `body`.
template <class Body>
std::vector<Come> arrivals(const Platform& platform, const Body& body, bool sequences = true) {
    std::vector<Come> all;
    run(
        platform,
        [&](Script&, Context& context) {
            if (context.id.node == 0) body(context);
        },
        [&](Script&, Context& context, NodeId, std::span<const std::byte> message) {
            all.push_back({context.id.node, message.size(), context.clock});
        },
        {.messages_compete_for_cores = false, .sends_sequences = sequences});
    std::ranges::sort(all, {}, &Come::time);
    return all;
}

/// When a message arrives that leaves the sender's queue at `begin`: 1 us for the sender, its bytes and the
/// latency of the star.
Time arrival(Time begin, std::size_t bytes) {
    const auto alone = arrivals(
        costly(2), [&](Context& context) { send(context, 1, bytes); }, false);
    return begin + alone.at(0).time;
}

// The module takes the first message when it is posted, and all that have come since when it is free: k
// messages take two start-ups, not k.
TEST(SimSequences, WhatComesWhileTheModuleIsBusyTravelsTogether) {
    const auto body = [](Context& context) {
        for (int i = 0; i < 5; ++i) {
            send(context, 1, 100);
            compute(context, busy(ns(10)));
        }
    };
    EXPECT_EQ(arrivals(costly(2), body),
              (std::vector<Come>{{1, 100, arrival(ns(0), 100)}, {1, 400, arrival(us(1), 400)}}));
    const auto each = arrivals(costly(2), body, false);
    ASSERT_EQ(each.size(), 5U);
    EXPECT_EQ(each.back().time, arrival(us(4), 100));
}

// While one to node 1 is sent, two to node 1, three to node 2 and two to node 3 come: 2 is served first, then
// 1, whose first message has waited longer than 3's.
TEST(SimSequences, TheLongestIsSentFirstAndOfEqualsTheOldest) {
    const auto come = arrivals(costly(4), [](Context& context) {
        send(context, 1, 100);
        compute(context, busy(ns(10)));
        for (const NodeId to : {1U, 3U, 2U, 2U, 3U, 1U, 2U}) send(context, to, 100);
    });
    EXPECT_EQ(come, (std::vector<Come>{{1, 100, arrival(ns(0), 100)},
                                       {2, 300, arrival(us(1), 300)},
                                       {1, 200, arrival(us(2), 200)},
                                       {3, 200, arrival(us(3), 200)}}));
}

// The queues of all workers of a node are one to the module.
TEST(SimSequences, MessagesOfAllWorkersTravelTogether) {
    const auto come = arrivals(costly(2, 3), [](Context& context) {
        if (context.id.core == 0) send(context, 1, 10);
        compute(context, busy(ns(100)));
        send(context, 1, 100);
    });
    EXPECT_EQ(come, (std::vector<Come>{{1, 10, arrival(ns(0), 10)}, {1, 300, arrival(us(1), 300)}}));
}

// Each network has a module: two messages over two networks leave at the same time. Over one network they are
// a sequence.
TEST(SimSequences, EachNetworkHasAModule) {
    Platform platform = costly(2);
    platform.networks.push_back({"near", {0, 1}});
    platform.networks.push_back({"far", {0, 1}});
    const auto over = [&](NetworkId second) {
        return arrivals(platform, [&](Context& context) {
            send(context, 1, 100);
            context.backend->send(context, 1, runtime::Bytes(100), {}, {.network = second});
            compute(context, busy(ns(10)));
        });
    };
    EXPECT_EQ(over(1), (std::vector<Come>{{1, 100, arrival(ns(0), 100)}, {1, 100, arrival(ns(0), 100)}}));
    EXPECT_EQ(over(0), (std::vector<Come>{{1, 200, arrival(ns(0), 200)}}));
}

// A body ends its sequence: it belongs to the last record. Bytes are paid for as those of one message.
TEST(SimSequences, ABodyEndsASequence) {
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> bodies;
    Platform platform = costly(2);
    SimBackend backend(platform, {.messages_compete_for_cores = false, .sends_sequences = true});
    class Program final : public runtime::NodeProgram {
    public:
        Program(std::vector<std::size_t>& sizes, std::vector<std::size_t>& bodies)
            : sizes_(sizes), bodies_(bodies) {}
        Context& context(CoreId core) override { return contexts_[core]; }
        void work(CoreId core) override {
            Context& context = contexts_[core];
            if (context.id.node != 0) return;
            const auto post = [&](std::size_t bytes, std::size_t body) {
                runtime::Enclosure enclosure;
                if (body > 0) enclosure.body = std::make_shared<runtime::Bytes>(body);
                context.backend->send(context, 1, runtime::Bytes(bytes), std::move(enclosure));
            };
            post(1, 0);
            compute(context, busy(ns(10)));
            post(10, 0);
            post(20, 500);
            post(30, 0);
            post(40, 0);
        }
        void deliver(NodeId, std::span<const std::byte> message, runtime::Body body) override {
            sizes_.push_back(message.size());
            bodies_.push_back(body ? body->size() : 0);
        }

    private:
        std::deque<Context> contexts_ = std::deque<Context>(2);
        std::vector<std::size_t>& sizes_;
        std::vector<std::size_t>& bodies_;
    };
    std::vector<std::unique_ptr<Program>> programs;
    backend.run([&](NodeId) -> runtime::NodeProgram& {
        return *programs.emplace_back(std::make_unique<Program>(sizes, bodies));
    });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 30, 70}));
    EXPECT_EQ(bodies, (std::vector<std::size_t>{0, 500, 0}));
}

/// What messages of the two handlers below said: a size, and that of the body.
struct SaidSizes final : runtime::State<runtime::Node> {
    explicit SaidSizes(runtime::Node& /*node*/) {}
    std::vector<std::pair<std::size_t, std::size_t>> all;
};

/// What it is sent may be in the message, or a body: as it is with a datum of a placed graph.
const runtime::Handler said_handler("sim_sequences_test.said", runtime::Handler::Kind::work,
                                    [](runtime::Node& node, NodeId /*from*/, auto message) {
                                        const runtime::Body body = node.take_body();
                                        node.state<SaidSizes>().all.emplace_back(message.size(),
                                                                                 body ? body->size() : 0);
                                    });

/// Node 0 sends node 1 messages without a body and with one. `said`: what node 1 has received.
class SaysSizes final : public runtime::Program {
public:
    explicit SaysSizes(std::vector<std::pair<std::size_t, std::size_t>>& said) : said_(said) {}
    void set_up(runtime::Node& node) override { node_ = &node; }
    void begin(runtime::Worker& worker) override {
        if (worker.id.node != 0) return;
        const auto post = [&](std::size_t bytes, std::size_t body) {
            runtime::Enclosure enclosure;
            if (body > 0) enclosure.body = std::make_shared<runtime::Bytes>(body);
            worker.outbox().post(1, said_handler, runtime::Bytes(bytes), std::move(enclosure));
        };
        post(1, 0);
        compute(worker, busy(ns(10)));
        post(2, 0);
        post(3, 0);
        post(4, 10'000);
        post(5, 0);
    }
    runtime::Answer answer() const override {
        if (node_->id() == 1) said_ = node_->state<SaidSizes>().all;
        return {};
    }

private:
    runtime::Node* node_ = nullptr;
    std::vector<std::pair<std::size_t, std::size_t>>& said_;
};

// Also in a sequence, where handlers of the messages before it may take bodies, too.
TEST(SimSequences, ABodyComesWithTheMessageThatEnclosesIt) {
    for (const bool sequences : {false, true}) {
        SCOPED_TRACE(sequences);
        SimBackend backend(costly(2), {.sends_sequences = sequences});
        std::vector<std::pair<std::size_t, std::size_t>> said;
        runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<SaysSizes>(said); }).run();
        std::ranges::sort(said);
        EXPECT_EQ(said, (std::vector<std::pair<std::size_t, std::size_t>>{
                            {1, 0}, {2, 0}, {3, 0}, {4, 10'000}, {5, 0}}));
    }
}

// The more a start-up costs, the more messages share one.
TEST(SimSequences, TheBusierTheModuleTheMoreTravelTogether) {
    std::size_t before = 1000;
    for (const Time cost : {ns(50), us(1), us(10)}) {
        Platform platform = costly(2);
        platform.overheads.message_send = cost;
        const auto come = arrivals(platform, [](Context& context) {
            for (int i = 0; i < 200; ++i) {
                send(context, 1, 8);
                compute(context, busy(ns(100)));
            }
        });
        std::size_t bytes = 0;
        for (const Come& one : come) bytes += one.bytes;
        EXPECT_EQ(bytes, 1600U);
        EXPECT_LT(come.size(), before);
        before = come.size();
    }
    EXPECT_LE(before, 4U);
}

TEST(SimSequences, ProgramsGiveTheSameAnswersInAllOrders) {
    for (const StatedWorkload& program :
         {StatedWorkload{"uts", {{"depth", "6"}, {"unit_cost", "10kf"}}},
          StatedWorkload{"dataflow_cholesky", {{"tiles", "6"}}},
          StatedWorkload{"collective", {{"operation", "all_to_all"}, {"bytes", "4096"}, {"repeats", "3"}}}}) {
        expect_same_in_all_orders(program, changing_machines(), {}, {.sends_sequences = true});
    }
}

}  // namespace
}  // namespace heddle::sim::testing
