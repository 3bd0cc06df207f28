// Runs the shipped workloads at 100,000 seeds, where messages are late and out of order and workers wake for
// no reason. It has ten tests that run side by side.
#include "tests/faulty_workloads.hpp"

namespace heddle::testing_faults {
namespace {

class ManySeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ManySeeds, AreRight) {
    run_seeds(GetParam(), 10'000);
}

INSTANTIATE_TEST_SUITE_P(FaultyWorkloads, ManySeeds, testing::Range<std::uint64_t>(0, 100'000, 10'000));

}  // namespace
}  // namespace heddle::testing_faults
