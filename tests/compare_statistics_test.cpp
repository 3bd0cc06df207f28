// Tests the statistics of a comparison against scipy, published tables and hand calculations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "results/statistics.hpp"

namespace heddle::results {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(Statistics, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median({7}), 7);
}

std::vector<double> numbers_up_to(std::size_t n) {
    std::vector<double> values;
    for (std::size_t i = n; i > 0; --i) values.push_back(static_cast<double>(i));
    return values;
}

// By hand, at 95%, for the values 1 to n. With n = 6, the median is beyond the first value with probability
// 1/64 and beyond the second with 7/64: 2.5% is a tenth of the way. The formula has 5 / 10 over 1 + 4 / 10.
TEST(Statistics, IntervalsOfTheMedianAreInterpolated) {
    for (const auto& [n, low] : std::vector<std::pair<std::size_t, double>>{
             {6, 1 + 0.5 / 1.4},
             {8, 1 + 7 * 0.675 / (1 + 6 * 0.675)},                  // 1/256, 9/256: 5.4 of 8
             {9, 2 + 7 * (2.8 / 36) / (2 + 5 * (2.8 / 36))},        // 10/512, 46/512: 2.8 of 36
             {10, 2 + 8 * (14.6 / 45) / (2 + 6 * (14.6 / 45))}}) {  // 11/1024, 56/1024: 14.6 of 45
        const auto interval = median_interval({numbers_up_to(n)}, 0.95);
        ASSERT_TRUE(interval) << n;
        EXPECT_THAT(interval->low, DoubleNear(low, 1e-12)) << n;
        EXPECT_THAT(interval->high, DoubleNear(static_cast<double>(n + 1) - low, 1e-12)) << n;
    }
    // A confidence that an interval of plain order statistics has needs no interpolation.
    const auto exact = median_interval({numbers_up_to(8)}, 1 - 18.0 / 256);
    EXPECT_THAT(exact->low, DoubleNear(2, 1e-9));
    EXPECT_THAT(exact->high, DoubleNear(7, 1e-9));
}

TEST(Statistics, IntervalsOfTheMedianAreNextToThoseOfThePublishedTable) {
    // Campbell and Gardner, "Calculating confidence intervals for some non-parametric analyses", 1988: at
    // least 95%.
    for (const auto& [n, low, high] : std::vector<std::array<std::size_t, 3>>{{6, 1, 6},
                                                                              {8, 1, 8},
                                                                              {9, 2, 8},
                                                                              {12, 3, 10},
                                                                              {15, 4, 12},
                                                                              {20, 6, 15},
                                                                              {25, 8, 18},
                                                                              {30, 10, 21},
                                                                              {50, 18, 33},
                                                                              {100, 40, 61}}) {
        const auto interval = median_interval({numbers_up_to(n)}, 0.95);
        ASSERT_TRUE(interval) << n;
        EXPECT_EQ(std::floor(interval->low), static_cast<double>(low)) << n;
        EXPECT_EQ(std::ceil(interval->high), static_cast<double>(high)) << n;
    }
    EXPECT_TRUE(median_interval({numbers_up_to(5000)}, 0.95));
}

TEST(Statistics, FewValuesHaveNoInterval) {
    EXPECT_FALSE(median_interval({numbers_up_to(5)}, 0.95));
    EXPECT_FALSE(median_interval({{2, 2, 2, 2, 2}}, 0.95)) << "they could have varied";
    EXPECT_EQ(median_interval({{2, 2, 2}, true}, 0.95)->high, 2);
    EXPECT_EQ(interval_values(0.95), 6U);  // 2 / 2^6 = 3.1%
    EXPECT_EQ(interval_values(0.5), 2U);
    EXPECT_FALSE(ratio_interval({numbers_up_to(5)}, {numbers_up_to(9)}, 0.95));
    EXPECT_FALSE(ratio_interval({numbers_up_to(9)}, {{7}}, 0.95));
}

// Each value is above the median or not, with the same probability: all ways are counted.
TEST(Statistics, TheConfidenceIsBetweenThoseOfTheRanksNextToTheEnds) {
    for (std::size_t n = 6; n <= 16; ++n) {
        const auto interval = median_interval({numbers_up_to(n)}, 0.95);
        const auto depth = static_cast<int>(interval->low);
        const auto covers = [n](int k) {
            std::size_t ways = 0;
            for (std::uint32_t above = 0; above < 1U << n; ++above) {
                const int count = std::popcount(above);
                ways += count >= k && static_cast<int>(n) - count >= k ? 1 : 0;
            }
            return static_cast<double>(ways) / static_cast<double>(1U << n);
        };
        EXPECT_GE(covers(depth), 0.95) << n;
        EXPECT_LT(covers(depth + 1), 0.95) << n;
    }
}

TEST(Statistics, TheIntervalOfARatioIsThatOfTheSampleThatVaries) {
    const Sample nine{numbers_up_to(9)}, three{{3, 3}, true};
    const Interval alone = *median_interval(nine, 0.95);
    const auto over = ratio_interval(nine, three, 0.95), under = ratio_interval(three, nine, 0.95);
    EXPECT_THAT(over->low, DoubleNear(alone.low / 3, 1e-12));
    EXPECT_THAT(over->high, DoubleNear(alone.high / 3, 1e-12));
    EXPECT_THAT(under->low, DoubleNear(3 / alone.high, 1e-12));
    EXPECT_THAT(under->high, DoubleNear(3 / alone.low, 1e-12));
    EXPECT_EQ(ratio_interval({{6, 6, 6}, true}, three, 0.95)->low, 2);
    EXPECT_EQ(ratio_interval({{6, 6, 6}, true}, three, 0.95)->high, 2);
}

TEST(Statistics, DistancesOfBothSamplesAreAddedAsSquares) {
    // Medians 8 and 2. The ends are 4 and 64, and 1 and 16: in powers of 2, 1 and 3 from 8, 1 and 3 from 2.
    const Sample above{{4, 4, 8, 8, 64, 64}}, below{{1, 1, 2, 2, 16, 16}};
    const auto interval = ratio_interval(above, below, 0.95);
    EXPECT_THAT(std::log2(interval->low), DoubleNear(2 - std::sqrt(1.0 + 9), 1e-12));
    EXPECT_THAT(std::log2(interval->high), DoubleNear(2 + std::sqrt(9.0 + 1), 1e-12));
}

TEST(Statistics, TimesOfZeroHaveARatioOfZero) {
    const Sample ones{std::vector<double>(6, 1)};
    EXPECT_EQ(ratio_interval({std::vector<double>(6, 0)}, ones, 0.95)->low, 0);
    EXPECT_EQ(ratio_interval({std::vector<double>(6, 0)}, ones, 0.95)->high, 0);
    EXPECT_EQ(ratio_interval({{0, 0, 1, 1, 1, 1}}, ones, 0.95)->low, 0);
    EXPECT_EQ(ratio_interval({{0, 0, 0, 0, 1, 1}}, ones, 0.95)->high, 1);
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

// By counting: of all choices of the smaller sample one is below all other values.
TEST(Statistics, TheRankSumTestIsExactForAFewValuesAgainstMany) {
    const auto apart = [](std::size_t few, std::size_t many) {
        std::vector<double> a(few), b(many);
        for (std::size_t i = 0; i < few; ++i) a[i] = static_cast<double>(i);
        for (std::size_t i = 0; i < many; ++i) b[i] = static_cast<double>(few + i);
        EXPECT_EQ(mann_whitney(a, b), mann_whitney(b, a)) << few << " and " << many;
        return mann_whitney(a, b);
    };
    EXPECT_THAT(apart(2, 49), DoubleNear(2.0 / (51 * 50 / 2), 1e-12));
    EXPECT_THAT(apart(1, 60), DoubleNear(2.0 / 61, 1e-12));
    EXPECT_THAT(apart(3, 48), DoubleNear(2.0 / (51 * 50 * 49 / 6), 1e-12));
    // The least value is what the test gives, however it is made.
    for (const auto& [few, many] :
         {std::pair{2, 49}, std::pair{30, 30}, std::pair{1, 2000}, std::pair{10, 500}}) {
        const auto m = static_cast<std::size_t>(few), n = static_cast<std::size_t>(many);
        EXPECT_THAT(apart(m, n) / mann_whitney_least(m, n), DoubleNear(1, 1e-9)) << few << " and " << many;
        EXPECT_EQ(mann_whitney_least(m, n), mann_whitney_least(n, m));
    }
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
