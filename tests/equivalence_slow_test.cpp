// Tests on 10,000 samples how often intervals and verdicts on times of a known ratio are wrong.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

#include "tests/equivalence_testing.hpp"

namespace heddle::results {
namespace {

constexpr int trials = 10'000;

// Of 10,000 trials at 95%, the share has a standard deviation of 0.2%. If both worlds vary alike, the
// combined distances are a little too long with few values: of 100,000 trials, intervals of 6 values cover
// the ratio in 97.9%, of 7 to 20 in 97.3% to 97.1%. So `most` is above 97% for these.
TEST(Equivalence, IntervalsOfTheRatioCoverItAsOftenAsTheySay) {
    struct Case {
        std::size_t above, below;
        double most = 0.97;
    };
    for (const auto& [above, below, most] :
         {Case{6, 6, 0.983}, Case{7, 7, 0.977}, Case{8, 8, 0.977}, Case{10, 10, 0.977}, Case{13, 13, 0.977},
          Case{16, 16, 0.977}, Case{20, 20, 0.977}, Case{32, 32}, Case{64, 64}, Case{10, 30, 0.977},
          Case{8, 64}}) {
        for (const auto& [above_sigma, below_sigma] : {std::pair{0.0, 0.03},
                                                       {0.0, 0.2},
                                                       {0.03, 0.03},
                                                       {0.2, 0.2},
                                                       {0.02, 0.2},
                                                       {0.1, 0.2},
                                                       {0.2, 0.02}}) {
            const double covered = ratio_coverage(trials, above, below, above_sigma, below_sigma);
            EXPECT_GE(covered, 0.93) << above << " " << below << " " << above_sigma << " " << below_sigma;
            EXPECT_LE(covered, above_sigma > 0 ? most : 0.97)
                << above << " " << below << " " << above_sigma << " " << below_sigma;
        }
    }
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
