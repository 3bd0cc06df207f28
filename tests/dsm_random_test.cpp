// Plays random programs of loads, stores and barriers on shared memory with every protocol, natively, in
// simulation and in-process. Each read is one that the protocol's consistency model allows. More seeds:
// dsm_random_slow_test.cpp.
#include "tests/dsm_random_programs.hpp"
#include "tests/seeds.hpp"

namespace heddle::testing_dsm {
namespace {

INSTANTIATE_TEST_SUITE_P(Protocols, RandomPrograms, testing::ValuesIn(consistencies()),
                         [](const auto& of) { return of.param.protocol; });

TEST_P(RandomPrograms, ReadWhatTheModelAllowsInEveryInterleaving) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(1000); ++seed)
        play(inprocess_world(seed, seed % 4 == 0), {.seed = seed});
}

TEST_P(RandomPrograms, ReadWhatTheModelAllowsOnFaultyMachines) {
    for (std::uint64_t seed = 1; seed <= testing_seeds::seeds(1000); ++seed)
        play(faulty_world(seed), {.seed = seed});
}

TEST_P(RandomPrograms, ReadWhatTheModelAllowsInOtherWorlds) {
    for (const World& world : worlds())
        for (std::uint64_t seed = 1; seed <= 5; ++seed)
            play(world, {.seed = seed, .phases = 6, .operations = 30});
}

}  // namespace
}  // namespace heddle::testing_dsm
