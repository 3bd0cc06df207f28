// Tests simulations that cannot advance: the caller gets an error. Also tests that work reaches nodes which
// no lifeline joins to the node that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/error.hpp"
#include "model/fork_join.hpp"
#include "tests/sim_harness.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

class OneLongTask final : public model::ForkJoinProgram {
public:
    runtime::Work unit() const override { return {1, 0}; }
    void root(model::Strand strand) override { strand.work(1'000'000'000); }
    runtime::Answer answer() const override { return {}; }
};

/// One task on two nodes whose messages and fixed back-offs take no time.
runtime::RunResult run_long_task(runtime::Schedule schedule) {
    Platform platform = ideal(2);
    platform.network.latency = Time::zero();
    schedule.stealing.victim = "random";
    schedule.stealing.back_off_min = schedule.stealing.back_off_max = Time::zero();
    SimBackend backend(platform, {});
    runtime::Execution execution(backend, schedule, [](NodeId) { return std::make_unique<OneLongTask>(); });
    return execution.run();
}

TEST(Standstill, OfThievesWhoseSearchTakesNoTimeIsRefusedWithAdvice) {
    runtime::Schedule schedule;
    schedule.stealing.back_off_share = 0;
    try {
        run_long_task(schedule);
        FAIL() << "it ended";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("looked for work 1000000 times"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("back_off_max"));
    }
}

TEST(Standstill, EndsByItselfWhereWaitsGrowWithTheTimeWithoutWork) {
    EXPECT_EQ(run_long_task({}).makespan, std::chrono::seconds(1));
}

// In a hypercube of 16 nodes 4 are neighbours of node 0, in one of 64 only 6. If work reached only those, 64
// nodes would be no faster than 16.
TEST(Lifelines, PassWorkOnBeyondTheNeighboursOfItsNodeOneTaskAtATime) {
    const auto makespan = [](NodeId nodes) {
        Platform platform;
        platform.nodes = nodes;
        platform.cores = 1;
        runtime::Schedule schedule;
        schedule.stealing.victim = "lifeline";
        schedule.stealing.amount = runtime::Stealing::Amount::one;
        return simulate({"uts", {{"tree", "T3"}, {"probability", "0.12"}, {"unit_cost", "8kf"}}}, platform,
                        schedule)
            .makespan;
    };
    EXPECT_LT(makespan(64) * 5, makespan(16) * 4);
}

/// Requests of thieves while four tasks, each as long as stated, run one after the other on one node of four.
std::uint64_t messages(double task_seconds) {
    class Serial final : public model::ForkJoinProgram {
    public:
        explicit Serial(double seconds) : seconds_(seconds) {}
        void root(model::Strand strand) override {
            for (int i = 0; i < 4; ++i) strand.worker().compute({seconds_ * 1e9, 0}, {});
        }
        runtime::Answer answer() const override { return {}; }

    private:
        double seconds_;
    };
    SimBackend backend(ideal(4), {});
    runtime::Execution execution(backend, {}, [&](NodeId) { return std::make_unique<Serial>(task_seconds); });
    return execution.run().total.messages;
}

TEST(BackOff, FollowsTheGrainOfTheTasks) {
    const std::uint64_t least = messages(0.1);
    for (const double seconds : {1.0, 10.0, 100.0}) EXPECT_LT(messages(seconds), 3 * least) << seconds;
    EXPECT_LT(least, 10'000U);
}

}  // namespace
}  // namespace heddle::sim::testing
