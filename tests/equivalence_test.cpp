// Tests the verdicts of equivalence tests on times whose true ratio is known. equivalence_slow_test.cpp
// counts how often they are wrong.
#include "results/equivalence.hpp"

#include <gtest/gtest.h>

#include "tests/equivalence_testing.hpp"

namespace heddle::results {
namespace {

constexpr int trials = 1000;

TEST(Equivalence, IntervalsOfTwentyRunsCoverTheRatio) {
    // Of 1000 trials at 95%, the share has a standard deviation of 0.7%.
    const double covered = share_of_trials(trials, 1, [](Random& random) {
        const auto simulated = times(20, 1.2, 0.1, random), native = times(20, 1, 0.2, random);
        const Interval interval =
            bootstrap_ratio_of_medians(simulated, native, 0.95, resamples, random.split(0));
        return interval.low <= 1.2 && 1.2 <= interval.high;
    });
    EXPECT_GE(covered, 0.93);
    EXPECT_LT(covered, 0.99);
}

TEST(Equivalence, AnErrorOfTwentyPercentIsRarelyWithinFifteen) {
    for (const double ratio : {0.8, 1.2}) {
        const double wrong = share_of_trials(trials, 1, [&](Random& random) {
            return tested_as_it_grows(ratio, 0.1, 0.15, random) == Equivalence::within;
        });
        EXPECT_LT(wrong, 0.05) << ratio;
    }
}

TEST(Equivalence, QuietTimesAreDecidedRightly) {
    const auto decided = [](double ratio, double bound, Equivalence expected) {
        return share_of_trials(trials, 3, [&](Random& random) {
            return tested_as_it_grows(ratio, 0.02, bound, random) == expected;
        });
    };
    EXPECT_GT(decided(1.02, 0.15, Equivalence::within), 0.99);
    EXPECT_GT(decided(1.00, 0.05, Equivalence::within), 0.95);
    EXPECT_GT(decided(1.3, 0.15, Equivalence::outside), 0.99);
    EXPECT_GT(decided(0.7, 0.15, Equivalence::outside), 0.99);
}

TEST(Equivalence, ConstantSamplesAreDecidedByTheirRatio) {
    const auto of = [](double simulated, double native, double bound) {
        return equivalence({simulated, simulated}, {native, native}, bound, 0.025, resamples, Random(1));
    };
    EXPECT_EQ(of(1.04, 1, 0.05), Equivalence::within);
    EXPECT_EQ(of(1.06, 1, 0.05), Equivalence::outside);
    EXPECT_EQ(of(0.94, 1, 0.05), Equivalence::outside);
    EXPECT_EQ(equivalence({1.0, 1.3}, {1.0}, 0.15, 0.025, resamples, Random(1)), Equivalence::undecided);
}

TEST(Equivalence, LevelsOfAllLooksSumUpToTheLevel) {
    double sum = 0;
    std::size_t look = 0;
    for (int i = 0; i < 20; ++i) {
        look = next_look(look);
        sum += level_of_look(look, 0.05);
    }
    EXPECT_LE(sum, 0.05);
    EXPECT_GT(sum, 0.0499);
    EXPECT_EQ(next_look(0), 8U);
    EXPECT_EQ(next_look(8), 16U);
    EXPECT_EQ(next_look(9), 16U);
    EXPECT_EQ(level_of_look(9, 0.08), level_of_look(16, 0.08));
    EXPECT_EQ(level_of_look(8, 0.08), 0.04);
}

}  // namespace
}  // namespace heddle::results
