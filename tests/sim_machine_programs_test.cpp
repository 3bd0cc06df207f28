// Tests whole programs on simulated machines of four nodes. Their answers are right, and two runs are the
// same event by event. Neither windows, their order nor the number of threads changes anything.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "host/thread_crew.hpp"
#include "tests/sim_nodes.hpp"
#include "tests/sim_workloads.hpp"

namespace heddle::sim::testing {
namespace {

/// Ten machines of four nodes with two cores each, on leaf switches of one machine: so some of them go on
/// beyond a window.
Platform machines() {
    Platform platform;
    platform.processes = 4;
    platform.nodes = 40;
    platform.cores = 2;
    platform.network.topology = heddle::Network::Topology::fat_tree;
    platform.network.shape = {1, 10};
    platform.network.cables = {1, 1};
    return platform;
}

const std::vector<StatedWorkload> programs = {
    {"uts", {{"depth", "6"}}},
    {"nqueens", {{"n", "8"}}},
    {"cholesky", {{"tiles", "6"}, {"tile_size", "32"}}, "etf"},
    {"cholesky", {{"tiles", "5"}, {"tile_size", "16"}}},
};

// Each workload compares its answer with one known from elsewhere (`simulate` fails otherwise).
void expect_all_workloads_the_same(const Platform& platform, bool single) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const auto crew = std::make_shared<host::ThreadCrew>(2);
    for (const StatedWorkload& program : programs) {
        for (const std::string victim : {"hierarchical", "random", "satin"}) {
            runtime::Schedule schedule;
            schedule.seed = 3;
            schedule.stealing.victim = victim;
            const auto first =
                expect_same_in_all_orders(program, platform, schedule, {.single_module = single});
            const SimOptions by_crew{.single_module = single, .crew = crew};
            EXPECT_EQ(first, all_of(simulate(program, platform, schedule, by_crew)))
                << program.name << ", " << victim;
        }
    }
}

TEST(SimMachinePrograms, AreTheSameInAllOrdersWithModules) {
    expect_all_workloads_the_same(machines(), false);
}

TEST(SimMachinePrograms, AreTheSameInAllOrdersWithASingleModule) {
    expect_all_workloads_the_same(machines(), true);
}

TEST(SimMachinePrograms, AreTheSameInAllOrdersIfNothingCostsAnything) {
    Platform platform = machines();
    platform.overheads = {};
    platform.events = {stop(us(12), 3), go_on(us(40), 2), speed(us(10), 0, 0.5)};
    expect_all_workloads_the_same(platform, false);
}

// A node that asks itself for a page sends messages in the time of its worker, which then must not go on
// beyond their answers.
TEST(SimMachinePrograms, WorkersWhoseNodesAskThemselvesWaitForTheAnswers) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const StatedWorkload matmul{"matmul", {{"n", "64"}, {"unit_cost", "5kf"}}};
    Platform free;
    free.nodes = free.processes = 2;
    free.cores = 1;
    free.overheads = {};
    free.events = {speed(us(1), 0, 0.5)};
    simulate(matmul, free, {});
    Platform faults;
    faults.nodes = faults.processes = faults.cores = 3;
    faults.overheads.page_fault = us(10);
    runtime::Schedule checked;
    checked.memory.trigger = runtime::Trigger::checked;
    checked.memory.prefetch = 3;
    for (const char* const n : {"64", "96", "128"}) {
        for (checked.seed = 1; checked.seed <= 5; ++checked.seed)
            simulate({"matmul", {{"n", n}, {"unit_cost", "5kf"}}}, faults, checked);
    }
}

/// The relative standard deviation of the makespan over some seeds.
double deviation(const StatedWorkload& program, const Platform& platform) {
    constexpr int seeds = 16;
    double sum = 0, squares = 0;
    SimOptions options;
    for (options.seed = 1; options.seed <= seeds; ++options.seed) {
        const auto time = static_cast<double>(simulate(program, platform, {}, options).makespan.count());
        sum += time;
        squares += time * time;
    }
    return std::sqrt(squares * seeds / (sum * sum) - 1);
}

// A worker that looks for messages while its filaments are charged charges them in parts of one piece.
TEST(SimMachinePrograms, WorkThatIsChargedInPartsHasTheNoiseOfOnePiece) {
    HEDDLE_SKIP_WITH_THREAD_SANITIZER();
    const StatedWorkload matmul{"matmul", {{"n", "48"}, {"unit_cost", "6kf"}}};
    Platform platform;
    platform.nodes = platform.processes = 2;
    platform.cores = 1;
    platform.noise.task = 0.5;
    platform.overheads.message_interrupt = Time{};
    const double whole = deviation(matmul, platform);
    platform.overheads.message_interrupt = Time(1);
    EXPECT_GT(deviation(matmul, platform), whole / 3);
    EXPECT_GT(whole, 0.05);
}

// What a thief takes from its own machine is nearer: a local-first policy gains by machines of four nodes.
TEST(SimMachinePrograms, MessagesWithinAMachineSaveTime) {
    Platform together = machines();
    together.network.latency = us(50);
    Platform apart = together;
    apart.processes = 1;
    apart.network.shape = {4, 10};
    apart.network.cables = {1, 4};
    runtime::Schedule schedule;
    schedule.stealing.victim = "hierarchical";
    const StatedWorkload uts{"uts", {{"depth", "7"}}};
    EXPECT_LT(simulate(uts, together, schedule).makespan, simulate(uts, apart, schedule).makespan);
}

}  // namespace
}  // namespace heddle::sim::testing
