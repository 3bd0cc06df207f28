// Tests programs while nodes join and leave, at many seeds of interleavings.
#include <gtest/gtest.h>

#include "tests/members_testing.hpp"

namespace heddle {
namespace {

TEST(Members, ManySeeds) {
    testing_members::run_seeds(100'000, 60'000);
}

}  // namespace
}  // namespace heddle
