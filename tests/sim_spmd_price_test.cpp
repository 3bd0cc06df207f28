// Tests predicted times of collective calls against the closed forms that simulated calls are compared with.
#include "model/spmd/pricing.hpp"
#include "tests/spmd_timed.hpp"

namespace heddle::spmd {
namespace {

using namespace testing_spmd;

class SpmdPrice : public testing::TestWithParam<Algorithm> {};

INSTANTIATE_TEST_SUITE_P(All, SpmdPrice, testing::ValuesIn(all_algorithms()), [](const auto& tested) {
    return name_of(tested.param.operation) + ("_" + tested.param.name);
});

Prices ideal(double latency, double bandwidth) {
    Prices prices;
    prices.latency = latency;
    prices.bandwidth = bandwidth;
    prices.core_speed = prices.memory_bandwidth = 1e18;
    return prices;
}

TEST_P(SpmdPrice, OfSmallMessagesIsThatOfLatencies) {
    for (const RankId ranks : {2U, 4U, 8U, 16U, 64U}) {
        const Index segment = Rank::segment_bytes / sizeof(std::uint64_t);
        const Task task{
            GetParam().operation, ranks, ranks / 3, count_for(GetParam(), ranks, 1), segment, true};
        const Call call{0, ranks, task.root, task.count, segment};
        const auto expected = static_cast<double>(latencies(closed_form(GetParam()), task));
        EXPECT_NEAR(price(GetParam(), call, 8, ideal(1e-3, 1e15)) / 1e-3, expected, 0.005)
            << ranks << " ranks";
    }
}

TEST_P(SpmdPrice, OfLargeMessagesIsThatOfTheirBytes) {
    if (GetParam().operation == Operation::barrier) GTEST_SKIP();
    for (RankId ranks = 2; ranks <= 17; ++ranks) {
        const ClosedForm& form = closed_form(GetParam());
        if (form.powers_of_two_only && !std::has_single_bit(ranks)) continue;
        const Index segment = Rank::segment_bytes / sizeof(std::uint64_t);
        const Index count = count_for(GetParam(), ranks, 16 << 10);
        const Task task{GetParam().operation, ranks, ranks / 3, count, segment, true};
        const Call call{0, ranks, task.root, count, segment};
        const std::uint64_t elements = form.time(ranks, count, task).sum % Cost::a;
        EXPECT_NEAR(
            price(GetParam(), call, 8, ideal(1e-9, 1e9)) * 1e9 / (8.0 * static_cast<double>(elements)), 1,
            0.01)
            << ranks << " ranks";
    }
}

// Three groups of four ranks. From root 5 the array passes between groups once, and in the flat tree twice to
// rank 0.
TEST(SpmdPriceOfGroups, CountsLatenciesWithinAndBetweenThem) {
    Levels levels;
    levels.two = levels.three = levels.network = std::make_shared<Groups>(12, std::vector<RankId>{0, 4, 8});
    levels.near_latency = 1e-6;
    levels.far_latency = 10e-6;
    const Call call{0, 12, 5, 1, 4000, &levels};
    const Prices prices = ideal(1e-3, 1e15);
    const auto micros = [&](const char* name) {
        return price(find_algorithm(Operation::broadcast, name), call, 8, prices) * 1e6;
    };
    EXPECT_NEAR(micros("two_level"), 12, 0.01);
    EXPECT_NEAR(micros("binomial"), 21, 0.01);
    EXPECT_EQ(cheapest(Operation::broadcast, {0, 12, 0, 1, 4000}, 8, true, prices).levels, 1)
        << "there are no groups";
}

// Two groups of four ranks. Of an all-to-all 16 blocks go from each group to the other, over one line, whose
// directions may share what it has.
TEST(SpmdPriceOfGroups, CountsWhatTheirLineHas) {
    Levels levels;
    levels.two = levels.three = levels.network = std::make_shared<Groups>(8, std::vector<RankId>{0, 4});
    levels.near_latency = levels.far_latency = 1e-9;
    levels.crossing = {.within = 1e9, .message = 1e8, .to_one = 1e8};
    const Index count = 1 << 16;
    const Call call{0, 8, 0, count, 4000, &levels};
    const double line = 16 * 8 * count / 1e8;
    const auto seconds = [&] {
        return price(find_algorithm(Operation::all_to_all, "pairwise"), call, 8, ideal(1e-9, 1e7));
    };
    EXPECT_NEAR(seconds() / line, 1, 0.1);
    levels.crossing.duplex = false;
    EXPECT_NEAR(seconds() / line, 2, 0.2);
    levels.crossing.to_one = 4e8;
    levels.crossing.duplex = true;
    EXPECT_NEAR(seconds() / line, 0.25, 0.03);
}

// Two ranks that are 10 ms apart: there are 256 KiB under way at most, and the receiver tells of room when it
// has received 64 KiB.
TEST(SpmdPrice, CountsWhatMayBeUnderWay) {
    const Algorithm& pipeline = find_algorithm(Operation::broadcast, "pipeline");
    const Index segment = Rank::segment_bytes / sizeof(std::uint64_t), count = 100 * segment;
    const Star star{1e12, std::chrono::milliseconds(5), 4096};
    const sim::SimBackend backend(star.platform(2));
    const double simulated =
        timed(pipeline, {Operation::broadcast, 2, 0, count, segment, true}, star).seconds;
    EXPECT_GT(simulated, 100 / 8 * 20e-3);
    const Prices prices = Prices::of(backend.topology(), no_overheads);
    EXPECT_NEAR(price(pipeline, {0, 2, 0, count, segment}, 8, prices) / simulated, 1, 0.02);
}

// One rank copies its array, which takes 16 ms at 1 GB/s. A helper begins when it is awake, and so late does
// the leader go on after the helpers. While they sleep the leader copies its part; if it has nothing more to
// copy, the memory rests.
TEST(SpmdPrice, CountsThreadsThatHelpToCopy) {
    const auto millis = [](Index count, std::uint32_t threads, double wake) {
        Prices prices = ideal(1e-6, 1e9);
        prices.memory_bandwidth = 1e9;
        prices.threads = threads;
        prices.wake = wake;
        return price(find_algorithm(Operation::all_gather, "ring"), {0, 1, 0, count}, 8, prices) * 1e3;
    };
    EXPECT_NEAR(millis(1'000'000, 1, 1e-3), 16, 1e-9);
    EXPECT_NEAR(millis(1'000'000, 4, 0), 16, 1e-9);
    EXPECT_NEAR(millis(1'000'000, 2, 1e-3), 16 + 1, 1e-9);
    EXPECT_NEAR(millis(1'000'000, 4, 1e-3), 16 + 1, 1e-9);
    EXPECT_NEAR(millis(1'000'000, 4, 10e-3), 10 + 12 + 10, 1e-9);
    EXPECT_NEAR(millis(Rank::shared_bytes / 8 - 1, 2, 10e-3), 16e-6 * (2048 - 1), 1e-9)
        << "one thread copies it";
}

TEST(SpmdCheapest, LeavesOutAlgorithmsThatCannotDoTheOperator) {
    const Prices prices = ideal(1e-6, 1e9);
    const Call other_root{0, 16, 1, 1 << 20, 4000};
    EXPECT_EQ(cheapest(Operation::reduce, other_root, 8, true, prices).name, "rabenseifner");
    EXPECT_EQ(cheapest(Operation::reduce, other_root, 8, false, prices).name, "rabenseifner");
    EXPECT_EQ(cheapest(Operation::all_reduce, {0, 16, 0, 1 << 20, 4000}, 8, true, prices).name,
              "rabenseifner");
    EXPECT_EQ(cheapest(Operation::all_reduce, {0, 16, 0, 1, 4000}, 8, true, prices).name,
              "recursive_doubling");
}

}  // namespace
}  // namespace heddle::spmd
