// How many steal requests a node has under way: never more than the setting says, and as many again once they
// are answered.
#include <gtest/gtest.h>

#include <memory>

#include "runtime/execution.hpp"
#include "runtime/inprocess/inprocess_backend.hpp"
#include "runtime/node.hpp"
#include "runtime/worker.hpp"

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

}  // namespace
}  // namespace heddle::runtime
