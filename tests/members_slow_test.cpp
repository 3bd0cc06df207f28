// Nodes join and leave while a program runs: many seeds of interleavings.
#include <gtest/gtest.h>

#include "tests/members_testing.hpp"

namespace heddle {
namespace {

TEST(Members, ManySeeds) {
    testing_members::run_seeds(100'000, 60'000);
}

}  // namespace
}  // namespace heddle
