// Tests the statistics of a comparison against scipy, published tables and hand calculations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "results/statistics.hpp"

namespace heddle::results {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

double binomial(std::size_t n, std::size_t k) {
    return std::exp(std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
                    std::lgamma(static_cast<double>(n - k + 1)));
}

/// How probable it is that the bootstrap's median of n (odd) values is at most the k-th smallest: more than
/// half of the n drawn values are (Maritz and Jarrett, "A note on estimating the variance of the sample
/// median", 1978).
double at_most(std::size_t n, std::size_t k) {
    const double share = static_cast<double>(k) / static_cast<double>(n);
    double sum = 0;
    for (std::size_t i = n / 2 + 1; i <= n; ++i) {
        sum += binomial(n, i) * std::pow(share, static_cast<double>(i)) *
               std::pow(1 - share, static_cast<double>(n - i));
    }
    return sum;
}

TEST(Statistics, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median({7}), 7);
}

/// The ratios of all pairs of resampled medians of two samples (odd sizes, all values different), each with
/// its exact probability, in order.
std::vector<std::pair<double, double>> ratio_distribution(const std::vector<double>& above,
                                                          const std::vector<double>& below) {
    std::vector<std::pair<double, double>> all;
    for (std::size_t i = 1; i <= above.size(); ++i) {
        for (std::size_t k = 1; k <= below.size(); ++k) {
            const double p = at_most(above.size(), i) - at_most(above.size(), i - 1);
            const double q = at_most(below.size(), k) - at_most(below.size(), k - 1);
            all.emplace_back(above[i - 1] / below[k - 1], p * q);
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

TEST(Statistics, TheIntervalOfARatioIsTheOneThatItsExactDistributionGives) {
    const std::vector<double> above = {10, 11, 13, 17, 19}, below = {2, 3, 7};
    const auto exact = ratio_distribution(above, below);
    for (const double confidence : {0.5, 0.8, 0.95}) {
        const Interval interval = bootstrap_ratio_of_medians(above, below, confidence, 100'000, Random(1));
        const auto probability_up_to = [&exact](double ratio) {
            double sum = 0;
            for (const auto& [value, p] : exact) sum += value <= ratio * (1 + 1e-12) ? p : 0;
            return sum;
        };
        const auto probability_below = [&exact](double ratio) {
            double sum = 0;
            for (const auto& [value, p] : exact) sum += value < ratio * (1 - 1e-12) ? p : 0;
            return sum;
        };
        const double tail = (1 - confidence) / 2;
        constexpr double sampling = 0.005;  // three standard deviations of a share of 100,000
        EXPECT_LE(probability_below(interval.low), tail + sampling) << confidence;
        EXPECT_GE(probability_up_to(interval.low), tail - sampling) << confidence;
        EXPECT_LE(probability_below(interval.high), 1 - tail + sampling) << confidence;
        EXPECT_GE(probability_up_to(interval.high), 1 - tail - sampling) << confidence;
    }
    const Interval constant = bootstrap_ratio_of_medians({6, 6, 6}, {3, 3}, 0.95, 1000, Random(1));
    EXPECT_EQ(constant.low, 2);
    EXPECT_EQ(constant.high, 2);
}

TEST(Statistics, TheBootstrapsIntervalIsTheOneThatItsExactDistributionGives) {
    for (const std::size_t n : {3U, 5U, 9U, 25U}) {
        std::vector<double> values;
        for (std::size_t i = n; i > 0; --i) values.push_back(static_cast<double>(i * i));
        for (const double confidence : {0.5, 0.8, 0.95}) {
            const double tail = (1 - confidence) / 2;
            std::size_t low = 1;
            while (at_most(n, low) < tail) ++low;
            std::size_t high = 1;
            while (at_most(n, high) < 1 - tail) ++high;
            // Where the exact distribution is as good as at the border, chance decides: no such case is here.
            ASSERT_GT(std::abs(at_most(n, low) - tail), 0.004) << n << " " << confidence;
            const Interval interval = bootstrap_median(values, confidence, 50'000, Random(n));
            EXPECT_EQ(interval.low, static_cast<double>(low * low)) << n << " " << confidence;
            EXPECT_EQ(interval.high, static_cast<double>(high * high)) << n << " " << confidence;
        }
    }
}

TEST(Statistics, TheBootstrapGivesTheSameTwiceAndIgnoresTheOrder) {
    const Interval one = bootstrap_median({5, 1, 4, 2, 3, 9}, 0.95, 1000, Random(1));
    const Interval two = bootstrap_median({9, 3, 2, 4, 1, 5}, 0.95, 1000, Random(1));
    EXPECT_EQ(one.low, two.low);
    EXPECT_EQ(one.high, two.high);
    EXPECT_LT(one.low, one.high);
    EXPECT_EQ(bootstrap_median({2, 2, 2}, 0.95, 100, Random(1)).high, 2);
}

TEST(Statistics, MannWhitneyGivesThePValueOfTheExampleInScipysManual) {
    // scipy.stats.mannwhitneyu: ages at which men and women were told of diabetes; exact p =
    // 0.1111111111111111.
    EXPECT_THAT(mann_whitney({19, 22, 16, 29, 24}, {20, 11, 17, 12}), DoubleNear(1.0 / 9, 1e-12));
    EXPECT_THAT(mann_whitney({20, 11, 17, 12}, {19, 22, 16, 29, 24}), DoubleNear(1.0 / 9, 1e-12));
}

TEST(Statistics, MannWhitneysLimitsAreThoseOfThePublishedTable) {
    // Two-sided at 5%, 5 and 5 values: the table of every textbook rejects up to U = 2. Of the 252 divisions
    // 1, 2, 4 and 7 have U of at most 0, 1, 2 and 3.
    const std::vector<double> a = {1, 2, 3, 4, 5.5};
    EXPECT_THAT(mann_whitney(a, {5, 6, 7, 8, 9}), DoubleNear(4.0 / 252, 1e-12));                   // U = 1
    EXPECT_THAT(mann_whitney({1, 2, 3, 4, 6.5}, {5, 6, 7, 8, 9}), DoubleNear(8.0 / 252, 1e-12));   // U = 2
    EXPECT_THAT(mann_whitney({1, 2, 3, 4, 7.5}, {5, 6, 7, 8, 9}), DoubleNear(14.0 / 252, 1e-12));  // U = 3
    EXPECT_LT(8.0 / 252, 0.05);
    EXPECT_GT(14.0 / 252, 0.05);
}

TEST(Statistics, MannWhitneyCountsTiesOverAllDivisions) {
    // By hand: of the 6 ways to choose 2 of {1, 2, 2, 3}, with ranks 1, 2.5, 2.5, 4 and mean sum 5, the sums
    // are 3.5, 3.5, 5, 5, 6.5, 6.5. {1, 2} has 3.5: four of six are as far away.
    EXPECT_THAT(mann_whitney({1, 2}, {2, 3}), DoubleNear(4.0 / 6, 1e-12));
    EXPECT_EQ(mann_whitney({4, 4, 4}, {4, 4, 4}), 1);
    // Without stealing every run takes the same time: still two different times.
    EXPECT_THAT(mann_whitney({1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}), DoubleNear(2.0 / 252, 1e-12));
    EXPECT_EQ(mann_whitney({}, {1}), 1);
}

TEST(Statistics, MannWhitneysApproximationContinuesTheExactTest) {
    for (const double shift : {1.5, 5.5, 9.5}) {
        std::vector<double> a, b;
        for (int i = 0; i < 25; ++i) a.push_back(i), b.push_back(i + shift);
        const double exact = mann_whitney(a, b);
        ASSERT_EQ(a.size() + b.size(), mann_whitney_exact_max);
        // The same once more with one value that says nothing: in the middle of both.
        std::vector<double> more = a;
        more.push_back(12 + shift / 2 + 0.25);
        EXPECT_THAT(mann_whitney(more, b), DoubleNear(exact, 0.03)) << shift;
    }
    EXPECT_EQ(mann_whitney(std::vector<double>(40, 1.0), std::vector<double>(40, 1.0)), 1);
}

TEST(Statistics, TheLeastPValueIsThatOfSeparatedSamples) {
    for (const auto& [m, n] : {std::pair{1, 1}, {2, 3}, {4, 4}, {5, 9}}) {
        std::vector<double> a(static_cast<std::size_t>(m), 1.0), b(static_cast<std::size_t>(n), 2.0);
        EXPECT_THAT(mann_whitney_least(a.size(), b.size()), DoubleNear(mann_whitney(a, b), 1e-12));
    }
    EXPECT_GT(mann_whitney_least(3, 3), 0.05);
    EXPECT_LT(mann_whitney_least(4, 4), 0.05);
}

TEST(Statistics, HolmAdjustsAsInHisPaper) {
    // By its definition: the least times 4, the next times 3, ..., none below the one before.
    EXPECT_THAT(holm({0.01, 0.04, 0.03, 0.005}),
                ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12),
                            DoubleNear(0.02, 1e-12)));
    EXPECT_THAT(holm({0.9, 0.8}), ElementsAre(1, 1));
    EXPECT_THAT(holm({}), ElementsAre());
}

}  // namespace
}  // namespace heddle::results
