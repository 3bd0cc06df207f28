// Tests on 10,000 samples how often intervals and verdicts on times of a known ratio are wrong.
#include <gtest/gtest.h>

#include <utility>

#include "tests/equivalence_testing.hpp"

namespace heddle::results {
namespace {

constexpr int trials = 10'000;

TEST(Equivalence, IntervalsOfTheRatioCoverItAsOftenAsTheySay) {
    for (const auto& [above, below] : {std::pair{10U, 10U}, {20U, 20U}, {30U, 30U}, {10U, 30U}, {16U, 25U}}) {
        const double covered = share_of_trials(trials, above * 100 + below, [&](Random& random) {
            const auto simulated = times(above, 1.2, 0.1, random), native = times(below, 1, 0.2, random);
            const Interval interval =
                bootstrap_ratio_of_medians(simulated, native, 0.95, resamples, random.split(0));
            return interval.low <= 1.2 && 1.2 <= interval.high;
        });
        EXPECT_GE(covered, 0.93) << above << " " << below;
        EXPECT_LE(covered, 0.97) << above << " " << below;
    }
}

TEST(Equivalence, AnErrorOfTwentyPercentIsRarelyCalledWithinFifteen) {
    for (const double ratio : {0.8, 1.2}) {
        for (const double sigma : {0.02, 0.1, 0.3}) {
            const double wrong = share_of_trials(trials, 1, [&](Random& random) {
                return tested_as_it_grows(ratio, sigma, 0.15, random) == Equivalence::within;
            });
            EXPECT_LT(wrong, 0.05) << ratio << " " << sigma;
        }
    }
}

// The level holds at the limits themselves, where an error is most likely.
TEST(Equivalence, AtTheLimitsEachErrorStaysBelowTheLevel) {
    for (const double ratio : {0.85, 1.15}) {
        int within = 0, outside = 0;
        share_of_trials(trials, 2, [&](Random& random) {
            const Equivalence verdict = tested_as_it_grows(ratio, 0.05, 0.15, random);
            within += verdict == Equivalence::within ? 1 : 0;
            outside += verdict == Equivalence::outside ? 1 : 0;
            return true;
        });
        EXPECT_LT(within, 0.05 * trials) << ratio;
        EXPECT_LT(outside, 0.05 * trials) << ratio;
    }
}

}  // namespace
}  // namespace heddle::results
