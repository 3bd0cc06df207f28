// Tests steal requests to other clusters for which no worker waits. A node has one at a time, beside those
// for which workers wait. The run ends although some are under way.
#include <gtest/gtest.h>

#include <memory>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "runtime/stealing/policy.hpp"
#include "tests/shares_nothing.hpp"

namespace heddle::runtime {
namespace {

/// The first worker asks node 1 three times in one go.
class AsksAgain final : public Program {
public:
    void begin(Worker& worker) override {
        if (worker.id.node != 0 || worker.id.core != 0) return;
        for (int i = 0; i < 3; ++i) sent += worker.node().steals().request_far(worker, 1) ? 1 : 0;
        may_wait = worker.node().steals().may_request();
        worker.node().steals().request_ended();
    }
    Answer answer() const override {
        return {{"sent", static_cast<double>(sent)}, {"may_wait", may_wait ? 1.0 : 0.0}};
    }

    int sent = 0;
    bool may_wait = false;
};

TEST(FarRequests, AreOneAtATimeAndLeaveRoomForOthers) {
    inprocess::InprocessBackend backend({2, 1, 3});
    Schedule schedule;
    schedule.stealing.victim = "none";
    schedule.stealing.requests = 1;
    Execution execution(backend, schedule, [](NodeId) { return std::make_unique<AsksAgain>(); });
    const Answer answer = execution.run().answer;
    EXPECT_EQ(answer.at(0).value, 1);
    EXPECT_EQ(answer.at(1).value, 1);
}

// Three nodes in three clusters. A busy node keeps the request. If node 0 has kept it, node 0 refuses it when
// it has no work any more, and node 1 asks again. If node 2 has kept it, the run ends while it is under way,
// as far as node 1 knows.
TEST(FarRequests, AreSentAgainAfterARefusalAndDoNotHoldUpTheEnd) {
    std::uint64_t asked_once = 0, asked_again = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        inprocess::InprocessBackend backend({3, 1, seed, false, 1U << 20, {0, 1, 2}});
        Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "satin";
        Execution execution(backend, schedule, [](NodeId) { return std::make_unique<SharesNothing>(); });
        const RunResult result = execution.run();
        ASSERT_TRUE(result.complete);
        ++(result.nodes.at(1).steal_attempts == 1 ? asked_once : asked_again);
    }
    EXPECT_GT(asked_once, 5U);
    EXPECT_GT(asked_again, 5U);
}

}  // namespace
}  // namespace heddle::runtime
