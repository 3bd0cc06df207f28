// Random collective calls: a hundred seeds.
#include "tests/spmd_random.hpp"

namespace heddle::spmd {
namespace {

TEST(SpmdRandom, CallsOnRandomClustersEqualTheReference) {
    testing_spmd::run_seeds(1, 100, 10);
}

}  // namespace
}  // namespace heddle::spmd
