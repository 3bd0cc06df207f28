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
        for (const double sigma : {0.0, 0.1}) {
            const double covered = ratio_coverage(trials, runs, runs, sigma, 0.2);
            EXPECT_GE(covered, 0.93) << runs << " " << sigma;
            EXPECT_LE(covered, 0.98) << runs << " " << sigma;
        }
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

// By hand: with 8 values an end is 0.9356 of the way from the outermost value to the next, at 95%. With 16 it
// is 0.178 of the way from the fourth to the fifth, at 97.5%: the median is beyond them with 1.06% and 3.84%.
TEST(Equivalence, AgainstAConstantTheIntervalOfTheOtherDecides) {
    const auto of = [](std::size_t values, std::size_t beyond, double slow) {
        std::vector<double> simulated(values, 1.0);
        std::fill_n(simulated.begin(), beyond, slow);
        return equivalence({simulated}, {{1.0}, true}, 0.15, level_of_look(values, 0.05));
    };
    EXPECT_EQ(of(8, 0, 2), Equivalence::within);
    EXPECT_EQ(of(8, 1, 3.32), Equivalence::within);  // 0.15 / 0.0644 = 2.33
    EXPECT_EQ(of(8, 1, 3.34), Equivalence::undecided);
    EXPECT_EQ(of(8, 2, 1.16), Equivalence::undecided);
    EXPECT_EQ(of(16, 3, 99), Equivalence::within);
    EXPECT_EQ(of(16, 4, 1.18), Equivalence::within);  // 0.15 / 0.822 = 0.1825
    EXPECT_EQ(of(16, 4, 1.19), Equivalence::undecided);
    // The two least are 0.86, and 1 / 0.86 = 1.163.
    EXPECT_EQ(equivalence({{1.0}, true}, {{0.86, 0.86, 1.14, 1.14, 1, 1.01, 0.99, 1}}, 0.15, 0.025),
              Equivalence::undecided);
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
