// Tests that the data of different nodes are separate. If a node's memory ignores one revocation of access in
// a hundred, random programs must read what the consistency model forbids. Runs natively, in simulation and
// in-process.
#include "tests/dsm_random_programs.hpp"
#include "tests/forgetful_backend.hpp"

namespace heddle::testing_dsm {
namespace {

class Forgetful : public testing::TestWithParam<World> {};

std::vector<World> forgetting_worlds() {
    const auto wrap = [](runtime::Backend& backend) { return std::make_shared<ForgetfulBackend>(backend); };
    std::vector<World> all{inprocess_world(1, false, {}, wrap),
                           native_world("native", native::Local::shared_memory, false, wrap)};
#ifdef HEDDLE_SIM
    all.push_back(sim_world(true, wrap));
#endif
    return all;
}

INSTANTIATE_TEST_SUITE_P(Worlds, Forgetful, testing::ValuesIn(forgetting_worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(Forgetful, MemoryGivesWrongAnswers) {
    runtime::Schedule schedule;
    std::string wrong;
    for (std::uint64_t seed = 1; wrong.empty() && seed <= 200; ++seed) {
        schedule.seed = seed;
        wrong = play_random(GetParam(), schedule, {.seed = seed, .phases = 6, .operations = 30});
    }
    EXPECT_NE(wrong, "");
}

}  // namespace
}  // namespace heddle::testing_dsm
