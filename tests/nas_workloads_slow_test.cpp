// Tests the NAS Parallel Benchmarks over shared memory: class S on every machine with every memory, and
// larger classes.
#include <gtest/gtest.h>

#include "tests/nas_workloads_testing.hpp"

namespace heddle::testing_filaments {
namespace {

class AllNasWorkloads : public testing::TestWithParam<MemoryWorld> {};

INSTANTIATE_TEST_SUITE_P(Worlds, AllNasWorkloads, testing::ValuesIn(testing_dsm::worlds()),
                         [](const auto& world) { return world.param.name; });

TEST_P(AllNasWorkloads, GiveThePublishedAnswersOnAllMachines) {
    for_all_memories([&](const runtime::SharedPages& memory) {
        for (const Machine& machine : nas_machines)
            for (const Small& nas : nas_workloads()) expect_right(GetParam(), machine, memory, nas);
    });
}

TEST_P(AllNasWorkloads, GiveThePublishedAnswersOfLargerClasses) {
    const Small larger[] = {
        {"nas_is", {{"class", "W"}}, "the 50 ranks published for class W"},
        {"nas_is", {{"class", "A"}}, "the 50 ranks published for class A"},
        {"nas_cg", {{"class", "W"}}, "10.3625950871240, published for class W"},
        {"nas_cg", {{"class", "A"}}, "17.1302350540290, published for class A"},
    };
    for (const Small& nas : larger) expect_right(GetParam(), {2, 2}, {}, nas);
}

}  // namespace
}  // namespace heddle::testing_filaments
