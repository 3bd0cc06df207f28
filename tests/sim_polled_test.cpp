// Tests parks on simulated nodes whose workers receive (schedule.modules: single). Only an unpark or the
// deadline ends a park, as natively (runtime/native/lookout.hpp), so a thief's search is not begun again by
// messages for others.
#include <gtest/gtest.h>

#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// Node 0 sends `messages` to node 1, one in 10 us.
void send_in_a_row(Context& context, int messages) {
    for (int i = 0; i < messages; ++i) {
        send(context, 1, 8);
        sleep_until(context, now(context) + us(10));
    }
}

TEST(SimPolled, MessagesThatWakeNoWorkerEndNoPark) {
    int handled = 0, parks = 0;
    bool awake = false;
    run(
        ideal(2),
        [&](Script&, Context& context) {
            if (context.id.node == 0) return send_in_a_row(context, 4);
            for (; !awake; ++parks) context.backend->park(context, never);
            EXPECT_EQ(handled, 4);
            EXPECT_LT(now(context), us(50));
        },
        [&](Script&, Context& receiver, NodeId, auto) {
            awake = ++handled == 4;
            if (awake) receiver.backend->unpark(receiver, 0);
        },
        {.single_module = true});
    EXPECT_EQ(parks, 1);
}

TEST(SimPolled, AParkLastsUntilItsDeadlineWhateverComes) {
    int handled = 0;
    run(
        ideal(2),
        [&](Script&, Context& context) {
            if (context.id.node == 0) return send_in_a_row(context, 4);
            context.backend->park(context, us(100));
            EXPECT_EQ(now(context), us(100));
            EXPECT_EQ(handled, 4);
        },
        [&](Script&, Context&, NodeId, auto) { ++handled; }, {.single_module = true});
}

// The worker that is to poll is unparked at the same instant, by a colleague, before or after its poll.
TEST(SimPolled, AnUnparkBesideAMessageIsNotLost) {
    Time arrival{};
    const auto run_once = [&](Time unpark_at) {
        bool unparked = false;
        run(
            ideal(2, 2),
            [&](Script&, Context& context) {
                if (context.id == WorkerId{0, 0}) send(context, 1, 8);
                if (context.id == WorkerId{1, 0}) {
                    while (!unparked) context.backend->park(context, never);
                }
                if (context.id != WorkerId{1, 1}) return;
                compute(context, busy(unpark_at));
                unparked = true;
                context.backend->unpark(context, 0);
            },
            [&](Script&, Context& receiver, NodeId, auto) { arrival = receiver.clock; },
            {.single_module = true});
    };
    run_once(us(100));
    const Time first = arrival;
    EXPECT_GT(first, us(2));
    for (int offset = -2; offset <= 2; ++offset) EXPECT_NO_THROW(run_once(first + ns(offset)));
}

// The requests of a sleeping thief are few: it asks its lifelines once, and not again for each message of the
// program. Beside the requests the program sends the same messages in both.
TEST(SimPolled, LifelinesAreTiedAsOftenAsWithSeparateModules) {
    Platform platform;
    platform.nodes = 4;
    platform.cores = 1;
    platform.network.gap = us(5);
    const StatedWorkload work{"collective", {{"operation", "all_to_all"}, {"bytes", "8"}}};
    runtime::Schedule schedule;
    schedule.seed = 1;
    schedule.stealing.victim = "lifeline";
    std::uint64_t messages[2] = {0, 0};
    for (const bool single : {false, true}) {
        SimOptions options;
        options.single_module = single;
        for (const auto& node : simulate(work, platform, schedule, options).nodes)
            messages[single ? 1 : 0] += node.messages;
    }
    EXPECT_GT(messages[0], 0U);
    EXPECT_LT(messages[1], 2 * messages[0]);
    EXPECT_LT(messages[0], 2 * messages[1]);
}

}  // namespace
}  // namespace heddle::sim::testing
