// Counts the steal requests that a node has under way: never more than the setting, and as many again after
// answers. Also tests requests that a busy node stores.
#include <gtest/gtest.h>

#include <memory>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/run/execution.hpp"
#include "tests/shares_nothing.hpp"

namespace heddle::runtime {
namespace {

class AsksForAll final : public Program {
public:
    void begin(Worker& worker) override {
        StealService& steals = worker.node().steals();
        if (worker.id.core != 0) return;
        while (steals.may_request()) ++allowed;
        const std::uint32_t first = allowed;
        steals.request_ended();
        while (steals.may_request()) ++allowed;
        allowed_later = allowed - first;
        for (std::uint32_t i = 0; i < first; ++i) steals.request_ended();
    }
    Answer answer() const override {
        return {{"allowed", static_cast<double>(allowed)}, {"later", static_cast<double>(allowed_later)}};
    }

    std::uint32_t allowed = 0;
    std::uint32_t allowed_later = 0;
};

TEST(StealRequests, AreBoundedByTheSetting) {
    for (const std::uint32_t most : {1U, 3U}) {
        inprocess::InprocessBackend backend({1, 1, 7});
        Schedule schedule;
        schedule.stealing.requests = most;
        Execution execution(backend, schedule, [](NodeId) { return std::make_unique<AsksForAll>(); });
        const Answer answer = execution.run().answer;
        EXPECT_EQ(answer.at(0).value, most + 1.0);
        EXPECT_EQ(answer.at(1).value, 1.0);
    }
}

// While both others work, node 1's request waits with one of them. If that is node 0, it must hear when
// nothing can come of it any more, and ask again.
TEST(StealRequests, ThatABusyNodeKeepsAreRefusedWhenItHasNoWork) {
    std::uint64_t asked_once = 0, asked_again = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        inprocess::InprocessBackend backend({3, 1, seed});
        Schedule schedule;
        schedule.seed = seed;
        schedule.stealing.victim = "random";
        schedule.stealing.busy = Stealing::Busy::wait;
        Execution execution(backend, schedule, [](NodeId) { return std::make_unique<SharesNothing>(); });
        ++(execution.run().nodes.at(1).steal_attempts == 1 ? asked_once : asked_again);
    }
    EXPECT_GT(asked_once, 5);  // node 2, which still works when all others have ended
    EXPECT_GT(asked_again, 5);
}

}  // namespace
}  // namespace heddle::runtime
