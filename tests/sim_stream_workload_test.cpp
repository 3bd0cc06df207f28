// Tests the workload stream: no more messages a second than the sender module can send, and messages between
// handlers that pass each other.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

// A message costs the sender 5 us, so there are at most 200,000 in a second, whatever the number of pairs.
// Sends do not wait for it: on two workers, eight pairs post their messages two pairs at a time.
TEST(StreamWorkload, PairsThatTakeTurnsAreNoFasterThanTheSender) {
    Platform platform = ideal(2, 2);
    platform.overheads.message_send = us(5);
    for (const char* pairs : {"1", "8"}) {
        const auto result = simulate({"stream", {{"bytes", "16"}, {"pairs", pairs}}}, platform, {});
        const auto rate_of =
            std::ranges::find(result.answer, "messages_per_second", &runtime::AnswerValue::name);
        ASSERT_NE(rate_of, result.answer.end());
        const double rate = rate_of->value;
        EXPECT_LE(rate, 200'000) << pairs;
        EXPECT_GE(rate, 190'000) << pairs;
    }
}

// A worker needs 1 us for each message of the first window. The first acknowledgements come meanwhile, and
// the receiver's messages pass the worker's. `simulate` expects that all messages come, and none is wrong.
TEST(StreamWorkload, MessagesBetweenHandlersMayPassEachOther) {
    Platform platform = ideal(2, 1);
    platform.overheads.message_enqueue = us(1);
    for (const char* window : {"1", "65", "500", "5000"}) {
        SCOPED_TRACE(window);
        (void)simulate(
            {"stream", {{"between", "handlers"}, {"bytes", "24"}, {"messages", "2000"}, {"window", window}}},
            platform, {});
    }
}

}  // namespace
}  // namespace heddle::sim::testing
