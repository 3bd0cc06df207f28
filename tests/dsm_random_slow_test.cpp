// Plays 10,000 random programs on shared memory with each protocol, in two worlds of one thread. One is
// in-process, the other also delays and reorders messages. Each read must be one that the protocol's
// consistency model allows.
#include "tests/dsm_random_programs.hpp"

namespace heddle::testing_dsm {
namespace {

INSTANTIATE_TEST_SUITE_P(Protocols, RandomPrograms, testing::ValuesIn(consistencies()),
                         [](const auto& of) { return of.param.protocol; });

constexpr std::uint64_t seeds = 10'000;

TEST_P(RandomPrograms, ReadWhatTheModelAllowsInManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        play(inprocess_world(seed, seed % 4 == 0), {.seed = seed});
}

TEST_P(RandomPrograms, ReadWhatTheModelAllowsOnManyFaultyMachines) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) play(faulty_world(seed), {.seed = seed});
}

}  // namespace
}  // namespace heddle::testing_dsm
