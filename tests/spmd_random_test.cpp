// Compares random sequences of collective calls, on random clusters, with sequential programs. More seeds:
// spmd_random_slow_test.cpp.
#include "tests/spmd_random.hpp"

namespace heddle::spmd {
namespace {

TEST(SpmdRandom, CallsOnRandomClustersEqualTheReference) {
    testing_spmd::run_seeds(1, 100, 10);
}

}  // namespace
}  // namespace heddle::spmd
