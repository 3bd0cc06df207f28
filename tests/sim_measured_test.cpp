// Tests simulated code that is measured: it takes the time of the stopwatch, while work that is only counted
// takes the time that it declares.
#include <gtest/gtest.h>

#include "base/work_done.hpp"
#include "tests/sim_harness.hpp"

namespace heddle::sim::testing {
namespace {

/// How long `code`, which declares 100 us, takes on a core of that factor. Each look at the stopwatch takes
/// 1 us, which is not the code's.
Time taken(const std::function<void()>& code, double& had, double core_factor) {
    Platform platform = ideal(1);
    platform.core_speeds = {core_factor};
    SimOptions options;
    options.stopwatch = [&had] { return had += 1e-6; };
    Time end{};
    run(
        platform,
        [&](Script&, Context& context) {
            context.backend->compute(context, busy(us(100)), code);
            end = now(context);
        },
        {}, options);
    return end;
}

}  // namespace

TEST(SimMeasured, CodeTakesWhatTheStopwatchSays) {
    double had = 0;
    const auto code = [&had] { had += 7e-6; };
    EXPECT_NEAR(to_seconds(taken(code, had, 1)), 7e-6, 1e-11);
    EXPECT_NEAR(to_seconds(taken(code, had, 0.5)), 14e-6, 1e-11);
}

// Two cores that stream share the memory: each gets half of what it has alone. Bytes that a core cannot move
// in the time that the code took were in the cache.
TEST(SimMeasured, MemoryMovesNoMoreThanItCouldInThatTime) {
    Platform platform = ideal(1, 2);
    platform.memory_bandwidth = MemoryBandwidth(1e9);
    double had = 0;
    SimOptions options;
    options.stopwatch = [&had] { return had; };
    const auto end_of = [&](double bytes) {
        Time end{};
        run(
            platform,
            [&](Script&, Context& context) {
                context.backend->compute(context, {0, bytes}, [&had] { had += 10e-6; });
                end = std::max(end, now(context));
            },
            {}, options);
        return to_seconds(end);
    };
    EXPECT_NEAR(end_of(1e3), 10e-6, 1e-11);
    EXPECT_NEAR(end_of(10e3), 20e-6, 1e-10);
    EXPECT_NEAR(end_of(1e6), 20e-6, 1e-10);
}

TEST(SimMeasured, WorkThatIsOnlyCountedTakesWhatItDeclares) {
    double had = 0;
    EXPECT_EQ(taken(WorkDone{}, had, 1), us(100));
    EXPECT_EQ(taken({}, had, 1), us(100));
}

}  // namespace heddle::sim::testing
