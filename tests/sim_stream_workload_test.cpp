// Tests the rate that the workload stream reports: no more messages a second than the sender module can send.
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

}  // namespace
}  // namespace heddle::sim::testing
