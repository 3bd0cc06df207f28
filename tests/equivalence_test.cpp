// Tests the verdicts of equivalence tests on times whose true ratio is known. equivalence_slow_test.cpp
// counts how often they are wrong.
#include "results/equivalence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/equivalence_testing.hpp"

namespace heddle::results {
namespace {

constexpr int trials = 1000;

TEST(Equivalence, IntervalsCoverTheRatio) {
    // Of 1000 trials at 95%, the share has a standard deviation of 0.7%.
    for (const std::size_t runs : {6U, 10U, 20U}) {
        for (const double sigma : {0.0, 0.1}) EXPECT_GE(ratio_coverage(trials, runs, runs, sigma, 0.2), 0.93);
    }
}

TEST(Equivalence, AnErrorOfTwentyPercentIsRarelyWithinFifteen) {
    for (const double ratio : {0.8, 1.2}) {
        for (const double sigma : {0.0, 0.1}) {
            const double wrong = share_of_trials(trials, 1, [&](Random& random) {
                return tested_as_it_grows(ratio, sigma, 0.1, 0.15, random) == Equivalence::within;
            });
            EXPECT_LT(wrong, 0.05) << ratio << " " << sigma;
        }
    }
}

TEST(Equivalence, QuietTimesAreDecidedRightly) {
    for (const double sigma : {0.0, 0.02}) {
        const auto decided = [sigma](double ratio, double bound, Equivalence expected) {
            return share_of_trials(trials, 3, [&](Random& random) {
                return tested_as_it_grows(ratio, sigma, 0.02, bound, random) == expected;
            });
        };
        EXPECT_GT(decided(1.02, 0.15, Equivalence::within), 0.99) << sigma;
        EXPECT_GT(decided(1.00, 0.05, Equivalence::within), 0.95) << sigma;
        EXPECT_GT(decided(1.3, 0.15, Equivalence::outside), 0.99) << sigma;
        EXPECT_GT(decided(0.7, 0.15, Equivalence::outside), 0.99) << sigma;
    }
}

TEST(Equivalence, ConstantSamplesAreDecidedByTheirRatio) {
    const auto of = [](double simulated, double native, double bound) {
        return equivalence({{simulated}, true}, {{native}, true}, bound, 0.025);
    };
    EXPECT_EQ(of(1.04, 1, 0.05), Equivalence::within);
    EXPECT_EQ(of(1.06, 1, 0.05), Equivalence::outside);
    EXPECT_EQ(of(0.94, 1, 0.05), Equivalence::outside);
    EXPECT_EQ(equivalence({{1.0, 1.3}}, {{1.0}}, 0.15, 0.025), Equivalence::undecided);
}

// Against a constant it is a sign test: all of 8 values (1 / 2^8 = 0.4%), or 13 of 16, are within the bound.
TEST(Equivalence, AgainstAConstantItIsASignTest) {
    const auto of = [](std::size_t values, std::size_t beyond) {
        std::vector<double> native(values, 1.0);
        std::fill_n(native.begin(), beyond, 2.0);
        return equivalence({{1.0}, true}, {native}, 0.15, level_of_look(values, 0.05));
    };
    EXPECT_EQ(of(8, 0), Equivalence::within);
    EXPECT_EQ(of(8, 1), Equivalence::undecided);  // 3.5% is more than 2.5%
    EXPECT_EQ(of(16, 3), Equivalence::within);    // P(3 of 16 or fewer) = 1.1%, of 1.25%
    EXPECT_EQ(of(16, 4), Equivalence::undecided);
}

TEST(Equivalence, MoreValuesDoNotChangeADecision) {
    const Sample simulated{{1.0}, true};
    std::vector<double> native(8, 1.0);
    for (std::size_t more = 0; more < 60; ++more) {
        EXPECT_EQ(equivalence_at_looks(simulated, {native}, 0.15, 0.05), Equivalence::within) << more;
        native.push_back(2);
    }
    EXPECT_EQ(equivalence_at_looks(simulated, {std::vector<double>(7, 1.0)}, 0.15, 0.05),
              Equivalence::undecided);
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
