// Tests that checksums of many numbers are exact in a double, whatever the order of addition.
#include "workloads/exact_sum.hpp"

#include <gtest/gtest.h>

namespace heddle::workloads {
namespace {

TEST(ExactSum, AsManyOfTheLargestNumbersAsStatedStayBelowTwoToThe53) {
    for (std::uint64_t count = 1; count <= 1'000'000'000; count = count * 3 + 1) {
        const double sum = summand(~std::uint64_t{0}, count) * static_cast<double>(count);
        EXPECT_LE(sum, 0x1p53) << count;
        EXPECT_GT(sum, count < 5'000'000 ? 0 : 0x1p51) << count;
    }
}

// Checksums in results of earlier versions.
TEST(ExactSum, ThirtyBitsCountWhereThereIsRoom) {
    for (const std::uint64_t count : {1U, 1000U, 8'388'607U}) {
        EXPECT_EQ(summand(~std::uint64_t{0}, count), 0x1p30 - 1) << count;
        EXPECT_EQ(summand(std::uint64_t{5} << 34, count), 5) << count;
    }
    EXPECT_EQ(summand(~std::uint64_t{0}, 16'777'216), 0x1p28 - 1);
}

}  // namespace
}  // namespace heddle::workloads
