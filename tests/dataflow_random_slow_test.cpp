// Runs ten thousand random dataflow programs natively, in simulation and in-process, with values of up to 1
// MiB. Every object ends as the sequential run leaves it, byte for byte. dataflow_random_test.cpp has some of
// them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/native/launch.hpp"
#include "runtime/native/native_backend.hpp"
#include "tests/dataflow_random.hpp"
#include "tests/faulty_machine.hpp"
#include "tests/native_testing.hpp"
#include "tests/strand_testing.hpp"

namespace heddle::testing_dataflow {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t programs = 1000;
#else
constexpr std::uint64_t programs = 10000;
#endif

/// One program in forty has values of up to 1 MiB.
Shape draw_large_shape(std::uint64_t seed) {
    Shape shape = draw_shape(seed);
    if (seed % 40 == 0) {
        shape.depth = std::min<std::uint64_t>(shape.depth, 3);
        shape.size_max = (std::uint64_t{1} << 20) / sizeof(Value::value_type);
        shape.forks_max = 3;
    }
    return shape;
}

template <class MakeRun>
void expect_all_sequential(const MakeRun& run_of) {
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        expect_sequential(seed, draw_large_shape(seed), run_of(seed));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(DataflowRandomSlow, IsSequentialAtManyInterleavings) {
    expect_all_sequential([](std::uint64_t seed) {
        return [seed](const auto& make) {
            const testing_faults::FaultyMachine machine = testing_faults::draw_machine(seed);
            inprocess::InprocessBackend backend(machine.options);
            return runtime::Execution(backend, machine.schedule, make).run();
        };
    });
}

TEST(DataflowRandomSlow, IsSequentialOnFourRealWorkers) {
    expect_all_sequential([](std::uint64_t) {
        return [](const auto& make) {
            native::NativeOptions options;
            options.cores = 4;
            native::NativeBackend backend(options);
            return runtime::Execution(backend, {}, make).run();
        };
    });
}

#ifdef HEDDLE_SIM
TEST(DataflowRandomSlow, IsSequentialInSimulation) {
    expect_all_sequential([](std::uint64_t seed) {
        return [seed](const auto& make) {
            Platform platform;
            platform.nodes = NodeId{1} << seed % 7;
            platform.cores = static_cast<CoreId>(1 + seed % 4);
            sim::SimBackend backend(platform, {});
            return runtime::Execution(backend, {}, make).run();
        };
    });
}
#endif

/// All programs, one after the other, in one run.
class ManyPrograms final : public DataflowProgram {
public:
    explicit ManyPrograms(std::uint64_t& right) : right_(right) {}

    void main(Thread& self) override {
        for (std::uint64_t seed = 1; seed <= programs; ++seed) {
            Forking world{self, {}};
            std::vector<Access*> objects;
            begin_main(world, seed, draw_large_shape(seed), objects);
            self.sync();
            Outcome found;
            for (Access* const object : objects) found.objects.push_back(world.read_own(object));
            if (found.objects == play(seed, draw_large_shape(seed)).objects) ++right_;
        }
    }
    runtime::Answer answer() const override { return {}; }

private:
    std::uint64_t& right_;
};

TEST(DataflowRandomSlowChild, DISABLED_RunsOneOfTwo) {
    native::NativeOptions options;
    options.cores = 4;
    options.membership = native::membership_from_environment();
    ASSERT_TRUE(options.membership);
    const NodeId rank = options.membership->rank;
    native::NativeBackend backend(options);
    std::uint64_t right = 0;
    runtime::Execution(backend, {}, [&](NodeId) { return std::make_unique<ManyPrograms>(right); }).run();
    if (rank == 0) std::ofstream(getenv("HEDDLE_TEST_FILE")) << right;
}

TEST(DataflowRandomSlow, IsSequentialInTwoProcesses) {
    const std::string file = testing::TempDir() + "heddle-random-" + std::to_string(getpid());
    setenv("HEDDLE_TEST_FILE", file.c_str(), 1);
    native::LaunchOptions launch;
    launch.nodes = 2;
    launch.argv = native::child_program("DataflowRandomSlowChild.DISABLED_RunsOneOfTwo");
    EXPECT_EQ(native::launch_here(launch), 0);
    std::uint64_t right = 0;
    std::ifstream(file) >> right;
    EXPECT_EQ(right, programs);
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace heddle::testing_dataflow
