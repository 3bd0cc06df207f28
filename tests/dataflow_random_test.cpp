// Tests random dataflow programs: every object ends as the sequential run leaves it, byte for byte. They run
// at many interleavings, natively on one to four workers and two nodes, and on 1 to 64 simulated nodes.
#include <gtest/gtest.h>

#include "tests/dataflow_random.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_dataflow {
namespace {

TEST(DataflowRandom, IsSequentialAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        expect_sequential(seed, draw_shape(seed), [&](auto make) {
            inprocess::InprocessBackend backend(machine.options);
            return runtime::Execution(backend, machine.schedule, make).run();
        });
        if (HasFatalFailure()) return;
    }
}

TEST(DataflowRandom, IsSequentialOnRealWorkers) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        for (const CoreId cores : {1, 2, 4}) {
            expect_sequential(seed, {}, [&](auto make) {
                native::NativeOptions options;
                options.cores = cores;
                native::NativeBackend backend(options);
                return runtime::Execution(backend, {}, make).run();
            });
            if (HasFatalFailure()) return;
        }
    }
}

TEST(DataflowRandom, IsSequentialOnTwoRealNodes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Outcome expected = play(seed, {});
        Outcome found;
        testing_strands::run_native_nodes(
            2, 2, [&](NodeId) { return std::make_unique<Player>(seed, Shape{}, found); });
        ASSERT_EQ(found.objects, expected.objects) << "seed " << seed;
    }
}

#ifdef HEDDLE_SIM
TEST(DataflowRandom, IsSequentialInSimulation) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Platform platform;
        platform.nodes = NodeId{1} << seed % 7;
        platform.cores = static_cast<CoreId>(1 + seed % 4);
        expect_sequential(seed, draw_shape(seed), [&](auto make) {
            sim::SimBackend backend(platform, {});
            return runtime::Execution(backend, {}, make).run();
        });
        if (HasFatalFailure()) return;
    }
}
#endif

}  // namespace
}  // namespace heddle::testing_dataflow
