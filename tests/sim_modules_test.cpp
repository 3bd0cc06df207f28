// Simulates nodes whose workers look for messages between tasks (schedule.modules: single), as in EARTH's
// older runtime (Tremblay et al., section 5: RTS 1.2).
#include <gtest/gtest.h>

#include "sim/sim_backend.hpp"
#include "tests/earth_testing.hpp"

namespace heddle {
namespace {

using namespace test;

constexpr double busy_flops = 1e7;  // a millisecond

struct PlaceParameters {
    Global<std::int64_t> value;
};

/// Keeps the worker of node 1 busy.
struct Busy : Threaded<Busy, PlaceParameters> {
    void init(Em em) {
        em.compute({busy_flops, 0}, [] {});
        em.terminate();
    }
};

/// Reads a value of node 1, once that works, and notes when it has come, in nanoseconds.
struct Reader : Threaded<Reader, PlaceParameters> {
    std::int64_t copy;

    void init(Em em) {
        em.invoke<Busy>(1, value);
        em.compute({1e6, 0}, [] {});  // the invocation has begun by then
        em.sync(begin);
    }
    void ask(Em em) { em.get_sync(value, copy, came); }
    void note(Em em) {
        notes(em).add(em.worker().backend->now(em.worker()) / std::chrono::nanoseconds(1));
        em.terminate();
    }
    Fiber<&Reader::ask> begin{*this, 1};
    Fiber<&Reader::note> came{*this, 1};
};

std::int64_t answered_after(bool single) {
    Platform platform;
    platform.nodes = 2;
    platform.cores = 1;
    platform.core_speed = 1e10;
    sim::SimOptions options;
    options.single_module = single;
    sim::SimBackend backend(platform, options);
    static std::int64_t value = 7;
    Notes shared;
    run_on(backend, {2, 1, 1, "none"}, shared,
           [](Em em) { em.invoke<Reader>(0, Global<std::int64_t>(1, &value)); });
    return shared.values.at(0);
}

TEST(SimModules, AMessageWaitsForTheTaskOfASingleModuleAndNotForSeparateOnes) {
    EXPECT_LT(answered_after(false), 200'000);
    const std::int64_t single = answered_after(true);
    EXPECT_GT(single, 1'000'000);  // the busy millisecond of node 1
    EXPECT_LT(single, 1'100'000);
}

TEST(SimModules, EveryPolicyComesToItsEndTheSameEachTime) {
    for (const char* victim : {"none", "random", "local_first", "hierarchical", "lifeline"}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Time makespans[2];
            for (Time& makespan : makespans) {
                Platform platform;
                platform.nodes = 6;
                platform.cores = 3;
                platform.overheads = Overheads::defaults();
                sim::SimOptions options;
                options.single_module = true;
                options.seed = seed;
                sim::SimBackend backend(platform, options);
                Notes shared;
                const auto result =
                    run_on(backend, {6, 3, seed, victim}, shared, [](Em em) { em.invoke<CountTreeMain>(0); });
                ASSERT_EQ(shared.total, count_tree_leaves) << victim << ", seed " << seed;
                ASSERT_EQ(unterminated(result), 0);
                makespan = result.makespan;
            }
            ASSERT_EQ(makespans[0], makespans[1]) << victim << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace heddle
