// Tests on 10,000 samples how often intervals and verdicts on times of a known ratio are wrong.
#include <gtest/gtest.h>

#include <utility>

#include "tests/equivalence_testing.hpp"

namespace heddle::results {
namespace {

constexpr int trials = 10'000;

// At least 95%. More, because the binomial distribution has steps, and two distances add up to a little more
// than that of the ratio.
TEST(Equivalence, IntervalsOfTheRatioCoverItAsOftenAsTheySay) {
    for (const auto& [above, below] : {std::pair{6U, 6U},
                                       {7U, 7U},
                                       {8U, 8U},
                                       {10U, 10U},
                                       {13U, 13U},
                                       {20U, 20U},
                                       {30U, 30U},
                                       {10U, 30U}}) {
        for (const auto& [above_sigma, below_sigma] :
             {std::pair{0.0, 0.2}, {0.02, 0.2}, {0.1, 0.2}, {0.2, 0.02}}) {
            // Of 10,000 trials at 95%, the share has a standard deviation of 0.2%.
            EXPECT_GE(ratio_coverage(trials, above, below, above_sigma, below_sigma), 0.945)
                << above << " " << below << " " << above_sigma << " " << below_sigma;
        }
    }
    EXPECT_LE(ratio_coverage(trials, 20, 20, 0, 0.2), 0.97);
    EXPECT_LE(ratio_coverage(trials, 30, 30, 0.1, 0.2), 0.98);
}

TEST(Equivalence, AnErrorOfTwentyPercentIsRarelyCalledWithinFifteen) {
    for (const double ratio : {0.8, 1.2}) {
        for (const double sigma : {0.02, 0.1, 0.3}) {
            for (const double simulated_sigma : {0.0, sigma}) {
                const double wrong = share_of_trials(trials, 1, [&](Random& random) {
                    return tested_as_it_grows(ratio, simulated_sigma, sigma, 0.15, random) ==
                           Equivalence::within;
                });
                EXPECT_LT(wrong, 0.05) << ratio << " " << sigma << " " << simulated_sigma;
            }
        }
    }
}

// The level holds at the limits themselves, where an error is most likely.
TEST(Equivalence, AtTheLimitsEachErrorStaysBelowTheLevel) {
    for (const double ratio : {0.85, 1.15}) {
        for (const double simulated_sigma : {0.0, 0.005, 0.05}) {
            int within = 0, outside = 0;
            share_of_trials(trials, 2, [&](Random& random) {
                const Equivalence verdict = tested_as_it_grows(ratio, simulated_sigma, 0.05, 0.15, random);
                within += verdict == Equivalence::within ? 1 : 0;
                outside += verdict == Equivalence::outside ? 1 : 0;
                return true;
            });
            EXPECT_LT(within, 0.05 * trials) << ratio << " " << simulated_sigma;
            EXPECT_LT(outside, 0.05 * trials) << ratio << " " << simulated_sigma;
        }
    }
}

}  // namespace
}  // namespace heddle::results
