// Compares collective calls in simulation with closed forms: time, messages and payload. Ranks send one
// message after the other.
#include "tests/seeds.hpp"
#include "tests/spmd_programs.hpp"
#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

class SpmdTime : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdTime, testing::ValuesIn(all_algorithms()), [](const auto& tested) {
    return name_of(tested.param.operation) + ("_" + tested.param.name);
});

// Messages of at least 128 KiB, which are announced, share links in SimGrid. A barrier has no bytes.
TEST_P(SpmdTime, OfLargeMessagesIsThatOfTheirBytes) {
    if (GetParam().operation == Operation::barrier) GTEST_SKIP();
    for (RankId ranks = 2; ranks <= 17; ranks += testing_seeds::stride())
        expect_closed_form(GetParam(), ranks, 16 << 10, bandwidth_counts());
    expect_closed_form(GetParam(), testing_seeds::all_are_tried() ? 64 : 24, 8 << 10, bandwidth_counts());
}

// A rank is busy with a send while its bytes leave, and not while they travel.
TEST_P(SpmdTime, OfSmallMessagesIsThatOfLatencies) {
    for (const RankId ranks : {2U, 4U, 8U, 16U, 64U})
        expect_closed_form(GetParam(), ranks, 1, latency_counts());
}

// Sends that do not wait for each other share the root's link: all arrive when the last one does.
TEST(SpmdTimeOfFlat, SendsThatLeaveTogetherTakeLonger) {
    const Algorithm& binomial = find_algorithm(Operation::broadcast, "binomial");
    const Task task{Operation::broadcast, 16, 0, 64 << 10, 1, true};
    const CrewSettings together{.sends = CrewSettings::Sends::together};
    EXPECT_GT(timed(binomial, task, bandwidth_counts(), together).seconds,
              2 * timed(binomial, task, bandwidth_counts()).seconds);
}

// Where messages of two nodes arrive in order, a request for data must not come after data: then the two
// directions of an exchange take turns.
TEST(SpmdTimeOfExchange, IsThatOfBothDirectionsAtOnceIfARankIsLate) {
    constexpr Index count = 16 << 10;
    const Star all_in_order = bandwidth_counts(1U << 30);
    std::vector<std::uint64_t> input(count);
    std::vector<std::uint64_t> outputs[2] = {input, input};
    Time begin{};
    Time end{};
    sim::SimBackend backend(all_in_order.platform(2));
    runtime::Execution(backend, {}, [&](NodeId) {
        return std::make_unique<MainFunction>(SpmdOptions{}, [&](Spmd& self) {
            runtime::Worker& worker = self.worker();
            if (self.node() == 1) {
                worker.compute({1e15, 0}, [] {});
                begin = worker.backend->now(worker);
            }
            self.all_reduce(std::plus<>(), input, outputs[self.node()], "recursive_doubling");
            end = std::max(end, worker.backend->now(worker));
        });
    }).run();
    EXPECT_NEAR(to_seconds(end - begin) / (count * sizeof(std::uint64_t) / all_in_order.bandwidth), 1, 0.005);
}

}  // namespace
}  // namespace heddle::spmd
