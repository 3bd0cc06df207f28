// Plays random programs of loads, stores and barriers on shared memory in every world and with every
// protocol: each read is one that the protocol's consistency model allows.
#include "tests/dsm_random_programs.hpp"

namespace heddle::testing_dsm {
namespace {

struct Consistency {
    const char* protocol;
    Model model;
};

class RandomPrograms : public testing::TestWithParam<Consistency> {
protected:
    static runtime::Schedule schedule(std::uint64_t seed) {
        runtime::Schedule drawn;
        drawn.seed = seed;
        drawn.deque_slots = 1U << 10;
        drawn.memory.protocol = GetParam().protocol;
        Random random = Random(seed).split(11);
        drawn.memory.placement = static_cast<runtime::SharedPages::Placement>(random.below(3));
        drawn.memory.prefetch = static_cast<std::uint32_t>(random.below(3));
        const auto triggers = testing_dsm::triggers();
        drawn.memory.trigger = triggers[random.below(triggers.size())];
        return drawn;
    }
    static void play(const World& world, RandomSettings settings) {
        settings.model = GetParam().model;
        const std::string wrong = play_random(world, schedule(settings.seed), settings);
        ASSERT_EQ(wrong, "") << "seed " << settings.seed << " in " << world.name;
    }
};

INSTANTIATE_TEST_SUITE_P(Protocols, RandomPrograms,
                         testing::Values(Consistency{"write_invalidate", Model::sequential},
                                         Consistency{"migratory", Model::sequential},
                                         Consistency{"implicit_invalidate", Model::barriers},
                                         Consistency{"home_lazy_release", Model::barriers}),
                         [](const auto& of) { return of.param.protocol; });

TEST_P(RandomPrograms, ReadWhatTheModelAllowsInEveryInterleaving) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed)
        play(inprocess_world(seed, seed % 4 == 0), {.seed = seed});
}

TEST_P(RandomPrograms, ReadWhatTheModelAllowsOnFaultyMachines) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) play(faulty_world(seed), {.seed = seed});
}

TEST_P(RandomPrograms, ReadWhatTheModelAllowsInOtherWorlds) {
    for (const World& world : worlds())
        for (std::uint64_t seed = 1; seed <= 5; ++seed)
            play(world, {.seed = seed, .phases = 6, .operations = 30});
}

}  // namespace
}  // namespace heddle::testing_dsm
