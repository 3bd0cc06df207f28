// Tests that the random generator is SplitMix64, and that its streams depend on seed and key only.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace heddle {
namespace {

TEST(Random, AStreamDependsOnItsSeedOnly) {
    Random a(7), b(7), c(8);
    bool differ = false;
    for (int i = 0; i < 100; ++i) {
        const auto drawn = a();
        EXPECT_EQ(drawn, b());
        differ = differ || drawn != c();
    }
    EXPECT_TRUE(differ);
}

TEST(Random, AChildDoesNotDependOnHowMuchTheParentDrew) {
    Random fresh(42), used(42);
    for (int i = 0; i < 1000; ++i) used();
    Random first = fresh.split(3), second = used.split(3);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(first(), second());
}

TEST(Random, ChildrenOfDifferentKeysDiffer) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t key = 0; key < 100; ++key) seen.insert(Random(seed).split(key)());
    }
    EXPECT_EQ(seen.size(), 10000U);
}

TEST(Random, NumbersBelowABoundAreEven) {
    Random random(1);
    std::array<int, 7> counts{};
    constexpr int draws = 70000;
    for (int i = 0; i < draws; ++i) ++counts.at(random.below(7));
    // Chi-square with 6 degrees of freedom: 22.46 is its 0.1% point.
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
    EXPECT_LT(chi_square, 22.46);
    EXPECT_EQ(Random(1).below(1), 0U);
}

TEST(Random, UniformNumbersLieBetweenZeroAndOneWithTheRightMean) {
    Random random(5);
    double sum = 0;
    for (int i = 0; i < 100000; ++i) {
        const double drawn = random.uniform();
        ASSERT_GE(drawn, 0);
        ASSERT_LT(drawn, 1);
        sum += drawn;
    }
    EXPECT_NEAR(sum / 100000, 0.5, 5 * std::sqrt(1.0 / 12 / 100000));
}

}  // namespace
}  // namespace heddle
