// Runs a program that combines all execution models, at many seeds. Under ThreadSanitizer it tries a tenth of
// them.
#include <gtest/gtest.h>

#include "tests/composed_seeds.hpp"

namespace heddle::testing_composed {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds = 1'000;
#else
constexpr std::uint64_t seeds = 10'000;
#endif

TEST(ComposedModelsSlow, AreRightAtManySeeds) {
    for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) run_seed(seed);
}

}  // namespace
}  // namespace heddle::testing_composed
