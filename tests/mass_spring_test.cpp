// Tests the chain of masses and springs: it swings with the known frequencies. Neither interleavings nor
// placements change a bit of the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/placement_testing.hpp"
#include "workloads/spring_chain.hpp"

#ifdef HEDDLE_SIM
#include "sim/sim_backend.hpp"
#endif

namespace heddle {
namespace {

using testing_placement::Ran;
using testing_placement::Stated;

Ran swing(const inprocess::Options& options, const runtime::Schedule& schedule,
          std::vector<std::pair<std::string, std::string>> settings) {
    inprocess::InprocessBackend backend(options);
    return testing_placement::run(backend, {"mass_spring", std::move(settings)},
                                  testing_placement::cluster(options.nodes, options.cores), schedule);
}

// One mass on two springs, and two masses on three: textbook modes of coupled oscillators.
TEST(SpringChain, HasTheModesOfTextbooks) {
    EXPECT_DOUBLE_EQ((workloads::SpringChain{1, 8, 2, 0.1, 1}.frequency()), std::sqrt(8.0));
    EXPECT_DOUBLE_EQ((workloads::SpringChain{2, 8, 2, 0.1, 1}.frequency()), 2);
    EXPECT_DOUBLE_EQ((workloads::SpringChain{2, 8, 2, 0.1, 2}.frequency()), std::sqrt(12.0));
}

TEST(MassSpring, SwingsWithTheAnalyticFrequencies) {
    constexpr int masses = 15;
    for (const int mode : {1, 2, 5, 8, 15}) {
        const double expected = 2 * std::sin(mode * std::numbers::pi / (2 * (masses + 1)));
        // The method's own frequency is higher by the square of frequency x step, over 24: 0.042% at most.
        const Ran ran = swing({}, {},
                              {{"masses", std::to_string(masses)},
                               {"mode", std::to_string(mode)},
                               {"iterations", "2000"},
                               {"step", "0.05"},
                               {"strips", "2"},
                               {"measure_frequency", "true"}});
        ASSERT_TRUE(ran.right()) << ran.verdict.reason;
        EXPECT_NEAR(ran.answer("frequency") / expected, 1, 1e-3) << "mode " << mode;
        EXPECT_GE(ran.answer("crossings"), 6) << "mode " << mode;
    }
}

TEST(MassSpring, IsTheSameAtManyInterleavingsAndPlacements) {
    const auto run = [](const inprocess::Options& options, const runtime::Schedule& schedule,
                        const char* unrolled, const char* parts, const char* strips) {
        return swing(options, schedule,
                     {{"masses", "40"},
                      {"mode", "3"},
                      {"iterations", "11"},
                      {"strips", strips},
                      {"unrolled", unrolled},
                      {"parts", parts},
                      {"measure_frequency", "true"}});
    };
    const Ran alone = run({}, {}, "11", "1", "1");
    ASSERT_TRUE(alone.right()) << alone.verdict.reason;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        Random random = Random(seed).split(9);
        // Partitioners refuse more workers than tasks.
        static constexpr std::array placements{"none", "random", "etf", "heft"};
        machine.schedule.placement = placements[random.below(4)];
        if (random.below(3) == 0) machine.schedule.stealing.victim = "none";
        static constexpr std::array numbers{"1", "2", "3", "4"};
        const Ran ran = run(machine.options, machine.schedule, numbers[random.below(4)],
                            numbers[random.below(4)], numbers[1 + random.below(3)]);
        ASSERT_TRUE(ran.right()) << "seed " << seed << ": " << ran.verdict.reason;
        for (const char* const name : {"digest", "deviation", "crossings"})
            ASSERT_EQ(ran.answer(name), alone.answer(name)) << name << ", seed " << seed;
    }
}

TEST(MassSpring, RefusesWhatIsNoChain) {
    const auto refused = [](std::vector<std::pair<std::string, std::string>> settings) {
        try {
            (void)testing_placement::Stated{"mass_spring", std::move(settings)}.make();
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("it was made");
    };
    EXPECT_THAT(refused({{"step", "0.5"}, {"stiffness", "4"}}),
                testing::AllOf(testing::HasSubstr("unstable"), testing::HasSubstr("below 0.5")));
    EXPECT_THAT(refused({{"step", "0.499"}, {"stiffness", "4"}}), "it was made");
    EXPECT_THAT(refused({{"masses", "3"}, {"mode", "4"}}), testing::HasSubstr("the modes 1 to 3"));
}

TEST(MassSpring, AWrongAnswerIsNoticed) {
    const testing_placement::Stated stated{
        "mass_spring",
        {{"masses", "15"}, {"iterations", "700"}, {"step", "0.1"}, {"measure_frequency", "true"}}};
    inprocess::InprocessBackend backend({});
    const Ran ran = testing_placement::run(backend, stated, testing_placement::cluster(1, 1), {});
    ASSERT_TRUE(ran.right()) << ran.verdict.reason;
    const auto with = [&](const std::string& name, double factor, double more) {
        runtime::RunResult result = ran.result;
        for (auto& value : result.answer)
            if (value.name == name) value.value = value.value * factor + more;
        return stated.make()->check(result).reason;
    };
    EXPECT_THAT(with("deviation", 1, 1e-9), testing::HasSubstr("from where mode 1 has it"));
    EXPECT_THAT(with("frequency", 1.01, 0), testing::HasSubstr("the frequency is"));
    EXPECT_THAT(with("digest", 1, 1), testing::HasSubstr("digest is"));
    EXPECT_THAT(with("iterations", 1, 1), testing::HasSubstr("iterations is"));
    EXPECT_THAT(with("crossings", 0, 0), testing::HasSubstr("changes its sign 0 times"));
    EXPECT_THAT(with("crossings", 1, 2), testing::HasSubstr("changes its sign"));
    runtime::RunResult without = ran.result;
    std::erase_if(without.answer, [](const auto& value) { return value.name == "frequency"; });
    EXPECT_THAT(stated.make()->check(without).reason, testing::HasSubstr("the frequency is"));
}

// However few half periods there are: fast modes pass a crossing in the first step already.
TEST(MassSpring, AllNumbersOfCrossingsAreRight) {
    for (int iterations = 1; iterations <= 60; ++iterations) {
        for (const char* const mode : {"1", "7", "15"}) {
            const Ran ran = swing({}, {},
                                  {{"masses", "15"},
                                   {"mode", mode},
                                   {"iterations", std::to_string(iterations)},
                                   {"step", "0.95"},
                                   {"strips", "2"},
                                   {"measure_frequency", "true"}});
            ASSERT_TRUE(ran.right()) << mode << ", " << iterations << ": " << ran.verdict.reason;
        }
    }
}

#ifdef HEDDLE_SIM
/// One more task for each strip and iteration, of as much work as the two others each.
TEST(MassSpring, MeasuringTheFrequencyCostsTime) {
    const auto seconds = [](const char* measured, const char* placement) {
        Platform platform;
        platform.nodes = 1;
        platform.cores = 1;
        platform.core_speed = 1e9;
        platform.overheads = {};
        sim::SimBackend backend(platform, {});
        const Stated stated{
            "mass_spring",
            {{"iterations", "20"}, {"strips", "2"}, {"unit_cost", "1000f"}, {"measure_frequency", measured}}};
        const Ran ran = testing_placement::run(backend, stated, testing_placement::cluster(1, 1),
                                               testing_placement::schedule(placement, "none"));
        EXPECT_TRUE(ran.right()) << ran.verdict.reason;
        return to_seconds(ran.result.makespan);
    };
    for (const char* const placement : {"none", "etf"})
        EXPECT_NEAR(seconds("true", placement) / seconds("false", placement), 1.5, 0.01) << placement;
}
#endif

}  // namespace
}  // namespace heddle
