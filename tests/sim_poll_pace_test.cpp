// Tests how often a computation of many steps polls (poll_pace.hpp), on a simulated worker, whose clock is
// exact.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/core/poll_pace.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

/// When it polls, in so many steps of that length.
std::vector<Time> polls_in(runtime::PollPace& pace, Context& context, int steps, Time step) {
    std::vector<Time> polls;
    for (int i = 0; i < steps; ++i) {
        context.charge(step);
        if (!pace.polls() || !pace.due(1)) continue;
        pace.poll(context);
        polls.push_back(now(context));
    }
    return polls;
}

/// Of the latest interval.
Time interval(const std::vector<Time>& polls) {
    return polls.back() - polls[polls.size() - 2];
}

void on_a_worker(const std::function<void(Context&)>& code) {
    run(ideal(1, 1), [&](Script&, Context& context) { code(context); });
}

TEST(SimPollPace, PollsEveryThreeToTwelveMicrosecondsWhereStepsAreShort) {
    on_a_worker([](Context& context) {
        for (const std::int64_t nanoseconds : {1, 10, 100, 700, 2000, 5000, 11000}) {
            runtime::PollPace pace(true, 1U << 16);
            const auto polls = polls_in(pace, context, 40'000, Time(nanoseconds * 1000));
            EXPECT_GE(interval(polls), us(3)) << nanoseconds;
            EXPECT_LE(interval(polls), us(12)) << nanoseconds;
        }
    });
}

TEST(SimPollPace, PollsAfterEachLongStep) {
    on_a_worker([](Context& context) {
        runtime::PollPace pace(true, 32);
        EXPECT_EQ(polls_in(pace, context, 10, us(50)).size(), 10U);
    });
}

// After steps that were short it polls late once, and then in half as many steps each time.
TEST(SimPollPace, FollowsTheLengthOfTheSteps) {
    on_a_worker([](Context& context) {
        runtime::PollPace pace(true, 32);
        polls_in(pace, context, 1000, Time(1));
        polls_in(pace, context, 32 + 16 + 8 + 4 + 2, us(50));
        EXPECT_EQ(polls_in(pace, context, 10, us(50)).size(), 10U);
        polls_in(pace, context, 1000, Time(1));
        pace.begin_again();
        EXPECT_EQ(polls_in(pace, context, 10, us(50)).size(), 10U);
    });
}

TEST(SimPollPace, NeverPollsWhereWorkersNeedNot) {
    on_a_worker([](Context& context) {
        runtime::PollPace pace(false, 32);
        pace.begin_again();
        EXPECT_TRUE(polls_in(pace, context, 100, us(50)).empty());
    });
}

}  // namespace
}  // namespace heddle::sim::testing
