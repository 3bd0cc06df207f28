// Tests which of the stated speeds of a kind of work counts for a size of its data.
#include "base/kernel_speeds.hpp"

#include <gtest/gtest.h>

namespace heddle {
namespace {

const std::vector<KernelSpeed> stated = {{"a", 0, 5},  {"a", 4, 10},  {"a", 16, 20},
                                         {"b", 4, 10}, {"b", 16, 20}, {"c", 0, 5}};

// Halfway between two sizes, on a logarithmic scale, the time of a flop is the mean of theirs.
TEST(KernelSpeeds, BetweenTwoSizesTheTimeFollowsALine) {
    for (const char* const kernel : {"a", "b"}) {
        EXPECT_DOUBLE_EQ(speed_of(stated, kernel, 4).value(), 10);
        EXPECT_DOUBLE_EQ(speed_of(stated, kernel, 8).value(), 1 / ((0.1 + 0.05) / 2));
        EXPECT_DOUBLE_EQ(speed_of(stated, kernel, 16).value(), 20);
    }
}

TEST(KernelSpeeds, BeyondAllSizesItIsTheNearest) {
    for (const char* const kernel : {"a", "b"}) {
        EXPECT_DOUBLE_EQ(speed_of(stated, kernel, 1).value(), 10);
        EXPECT_DOUBLE_EQ(speed_of(stated, kernel, 100).value(), 20);
    }
}

TEST(KernelSpeeds, WorkWithoutASizeHasASpeedOfItsOwn) {
    EXPECT_DOUBLE_EQ(speed_of(stated, "a", 0).value(), 5);
    EXPECT_DOUBLE_EQ(speed_of(stated, "b", 0).value(), 10);
    EXPECT_DOUBLE_EQ(speed_of(stated, "c", 0).value(), 5);
    EXPECT_DOUBLE_EQ(speed_of(stated, "c", 7).value(), 5);
}

TEST(KernelSpeeds, OfOtherWorkNoneIsStated) {
    EXPECT_FALSE(speed_of(stated, "d", 4));
    EXPECT_FALSE(speed_of(stated, "", 0));
}

}  // namespace
}  // namespace heddle
