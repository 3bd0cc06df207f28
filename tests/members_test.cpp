// Nodes join and leave while a program runs: a hundred seeds and more of interleavings.
#include <gtest/gtest.h>

#include "tests/members_testing.hpp"

namespace heddle {
namespace {

TEST(Members, NodesJoinAndLeaveAtAnyTimeAndTheAnswerStaysRight) {
    const testing_members::Changes changes = testing_members::run_seeds(1, 1200);
    // Else the test would show nothing.
    EXPECT_GT(changes.joined, 200U);
    EXPECT_GT(changes.left, 400U);
}

}  // namespace
}  // namespace heddle
