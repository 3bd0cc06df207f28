// Tests one run that combines fork/join, EARTH, two placed graphs, channels and endpoints. The answer is
// right natively, in simulation and in-process.
#include <gtest/gtest.h>

#include "tests/composed_program.hpp"
#include "tests/composed_seeds.hpp"

namespace heddle::testing_composed {
namespace {

using testing_strands::Strands;
using testing_strands::worlds;

class ComposedModels : public Strands {};

INSTANTIATE_TEST_SUITE_P(Worlds, ComposedModels, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(ComposedModels, GiveTheirAnswersInOneRun) {
    for (const NodeId wanted : {1, 3}) {
        const NodeId count = nodes(wanted);
        for (const CoreId cores : {1, 2}) {
            const Plans plans(count, cores, 5);
            std::atomic<std::uint32_t> right{0};
            GetParam().run(count, cores, [&](NodeId node) {
                return std::make_unique<ComposedProgram>(plans, node, right);
            });
            EXPECT_EQ(right, 1U) << count << " x " << cores;
        }
    }
}

TEST(ComposedModelsSeeds, AreRightAtFewSeeds) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) run_seed(seed);
}

}  // namespace
}  // namespace heddle::testing_composed
