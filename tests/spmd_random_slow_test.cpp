// Compares random sequences of collective calls with sequential programs, at many seeds.
#include "tests/spmd_random.hpp"

namespace heddle::spmd {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t seeds = 2'000;
#else
constexpr std::uint64_t seeds = 100'000;
#endif

TEST(SpmdRandomSlow, CallsOnRandomClustersEqualTheReference) {
    testing_spmd::run_seeds(1'000'000, seeds, 5);
}

}  // namespace
}  // namespace heddle::spmd
