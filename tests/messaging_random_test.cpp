// Tests random exchanges of messages between threads at some interleavings, natively and in simulation. Each
// message comes once, whole and in order.
#include "tests/messaging_random.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_messaging {
namespace {

TEST(MessagingRandom, EachMessageComesOnceAtManyInterleavings) {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
        expect_each_once(seed, [&](const auto& make) {
            inprocess::InprocessBackend backend(machine.options);
            runtime::Execution(backend, machine.schedule, make).run();
        });
        if (HasFatalFailure()) return;
    }
}

TEST(MessagingRandom, EachMessageComesOnceOnRealNodes) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        expect_each_once(seed, [&](const auto& make) {
            testing_strands::run_native_nodes(static_cast<NodeId>(seed % 3 + 1), 2, make);
        });
        if (HasFatalFailure()) return;
    }
}

#ifdef HEDDLE_SIM
TEST(MessagingRandom, EachMessageComesOnceInSimulation) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        Platform platform;
        platform.nodes = static_cast<NodeId>(seed % 5 + 1);
        platform.cores = static_cast<CoreId>(seed % 3 + 1);
        expect_each_once(seed, [&](const auto& make) {
            sim::SimBackend backend(platform, {});
            runtime::Execution(backend, {}, make).run();
        });
        if (HasFatalFailure()) return;
    }
}
#endif

}  // namespace
}  // namespace heddle::testing_messaging
