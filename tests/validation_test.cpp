// Tests the evaluation of a validation on outcomes made by hand.
#include "results/validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/csv_table.hpp"
#include "results/columns.hpp"

namespace heddle::results {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Outcome outcome(double makespan, double tasks = 10, bool deterministic = false) {
    Outcome made;
    made.state = Outcome::State::right;
    made.makespan_seconds = makespan;
    made.deterministic = deterministic;
    made.workers = 2;
    made.counted = {{"tasks", tasks}, {"time_seconds_working", makespan}, {"time_seconds_idle", makespan}};
    return made;
}

/// Native times around `native` with 1% of spread, and a constant simulated time.
WorldPair pair_of(std::vector<std::string> values, double native, double simulated, std::size_t runs = 8) {
    WorldPair pair;
    pair.values = std::move(values);
    for (std::size_t i = 0; i < runs; ++i) {
        const double spread = 0.01 * (static_cast<double>(i) / static_cast<double>(runs) - 0.5);
        pair.native.push_back(outcome(native * (1 + spread)));
        pair.simulated.push_back(i < 3 ? outcome(simulated, 10, true) : Outcome{});
    }
    return pair;
}

TEST(Validation, AnErrorIsWithinOrOutsideOfABound) {
    const auto of = [](double simulated) { return validate_pair(pair_of({}, 1, simulated)); };
    EXPECT_EQ(of(1.03).within_narrow, Equivalence::within);
    EXPECT_EQ(of(1.03).within_wide, Equivalence::within);
    EXPECT_EQ(of(0.9).within_narrow, Equivalence::outside);
    EXPECT_EQ(of(0.9).within_wide, Equivalence::within);
    EXPECT_EQ(of(1.3).within_wide, Equivalence::outside);
    EXPECT_EQ(of(1.15).within_wide, Equivalence::undecided);
    EXPECT_TRUE(of(1.03).passes());
    EXPECT_TRUE(of(1.3).fails());
    EXPECT_FALSE(of(1.15).passes() || of(1.15).fails());
    EXPECT_THAT(*of(0.9).error(), DoubleNear(0.1, 0.002));
}

TEST(Validation, FewRunsDecideNothing) {
    const ValidationLine line = validate_pair(pair_of({}, 1, 1, first_look - 1));
    EXPECT_EQ(line.within_wide, Equivalence::undecided);
    EXPECT_TRUE(line.ratio->interval.has_value());
    EXPECT_FALSE(validate_pair(WorldPair{}).ratio);
}

// By hand: at the first look all eight are within 15% of 1 s. Runs after it, such as the ninth, which is
// beyond, are no look.
TEST(Validation, AVerdictOfALookIsNotLostByMoreRuns) {
    WorldPair pair;
    pair.simulated = {outcome(1, 10, true), outcome(1, 10, true), outcome(1, 10, true)};
    for (const double seconds : {0.9, 0.9, 1.1, 1.1, 1.0, 1.01, 0.99, 1.0}) {
        EXPECT_EQ(validate_pair(pair).within_wide, Equivalence::undecided);
        pair.native.push_back(outcome(seconds));
    }
    for (const double seconds : {1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0}) {
        EXPECT_EQ(validate_pair(pair).within_wide, Equivalence::within) << pair.native.size();
        pair.native.push_back(outcome(seconds));
    }
}

// Three equal simulated runs of a deterministic world are enough; three that could vary are not.
TEST(Validation, OnlyADeterministicWorldNeedsNoMoreRuns) {
    WorldPair pair = pair_of({}, 1, 1);
    EXPECT_EQ(validate_pair(pair).within_wide, Equivalence::within);
    for (Outcome& run : pair.simulated) run.deterministic = false;
    EXPECT_EQ(validate_pair(pair).within_wide, Equivalence::undecided);
}

TEST(Validation, OtherNumbersOfTasksFail) {
    WorldPair pair = pair_of({}, 1, 1);
    EXPECT_EQ(validate_pair(pair).same_tasks, true);
    pair.simulated[1] = outcome(1, 11, true);
    EXPECT_EQ(validate_pair(pair).same_tasks, false);
    EXPECT_TRUE(validate_pair(pair).fails());
}

TEST(Validation, ARunThatFailsFails) {
    WorldPair pair = pair_of({}, 1, 1);
    pair.native[2].state = Outcome::State::wrong;
    EXPECT_EQ(validate_pair(pair).bad, 1U);
    EXPECT_TRUE(validate_pair(pair).fails());
}

TEST(Validation, AConfigurationThatFailsIsNotOutside) {
    WorldPair failed = pair_of({"1"}, 1, 1), other = pair_of({"2"}, 1, 1);
    failed.native[2].state = Outcome::State::failed;
    other.simulated[1] = outcome(1, 11, true);
    const Validation validation = validate("v", {"platform.nodes"}, {failed, other, pair_of({"3"}, 1, 1.3)});
    EXPECT_EQ(validation.failed(), 3U);
    EXPECT_EQ(validation.outside(), 1U);
    EXPECT_THAT(validation_json(validation), HasSubstr(R"("within":0,"outside":1,"failed":2)"));
}

// By hand: 2 workers and 1 s natively are 2 s, of which 1 s is work and 1 s idle; simulated 1.2 s of each.
TEST(Validation, PartsByStateSumUpToTheError) {
    const ValidationLine line = validate_pair(pair_of({}, 1, 1.2, 9));
    ASSERT_EQ(line.parts.size(), 2U);
    double sum = 0;
    for (const auto& [state, part] : line.parts) sum += part;
    EXPECT_THAT(sum, DoubleNear(line.ratio->value - 1, 1e-9));
    EXPECT_THAT(line.parts[1].second, DoubleNear(0.1, 0.002));
    EXPECT_EQ(line.parts[1].first, "idle");
}

TEST(Validation, PoliciesAreRankedAmongPairsThatDifferNatively) {
    const std::vector<std::string> keys = {"platform.nodes", "schedule.placement"};
    const auto ranking = [&](double a, double b, double c) {
        return validate("v", keys,
                        {pair_of({"1", "heft"}, 1, a), pair_of({"1", "cyclic"}, 2, b),
                         pair_of({"1", "block"}, 2.001, c), pair_of({"2", "heft"}, 9, 1)})
            .ranking;
    };
    // heft differs from both; these two do not, and another number of nodes is another group.
    EXPECT_EQ(ranking(1, 2, 3).pairs, 2U);
    EXPECT_EQ(ranking(1, 2, 3).alike, 2U);
    EXPECT_EQ(ranking(1, 2, 0.5).alike, 1U);
    EXPECT_EQ(ranking(1, 1, 0.5).alike, 0U) << "a tie has no winner";
    const auto across = validate("v", keys, {pair_of({"1", "heft"}, 1, 1), pair_of({"2", "heft"}, 2, 2)},
                                 {"schedule.placement"});
    EXPECT_THAT(across.competing, ElementsAre("platform.nodes"));
    EXPECT_EQ(across.ranking.alike, 1U);
}

TEST(Validation, TheTotalIsOverLinesWithARatio) {
    const Validation validation =
        validate("v", {"platform.nodes"},
                 {pair_of({"1"}, 1, 1.02), pair_of({"2"}, 1, 1.1), pair_of({"3"}, 1, 1.5), {{"4"}, {}, {}}});
    EXPECT_THAT(*validation.median_error, DoubleNear(0.1, 0.002));
    EXPECT_THAT(*validation.largest_error, DoubleNear(0.5, 0.002));
    EXPECT_EQ(validation.passed(), 2U);
    EXPECT_EQ(validation.failed(), 1U);
}

TEST(Validation, ReplaysDivideTheErrorIntoTimingAndScheduling) {
    WorldPair pair = pair_of({"1"}, 1, 1.2);
    EXPECT_FALSE(validate_pair(pair).replays);
    for (Outcome& run : pair.native) run.makespan_seconds = 1;
    for (const double seconds : {1.1, 1.1, 1.1, 1.1, 1.1, 1.3, 1.3, 1.3})
        pair.replayed.push_back(outcome(seconds));
    const ValidationLine line = validate_pair(pair);
    ASSERT_TRUE(line.replays);
    EXPECT_EQ(line.replays->runs, 8U);
    EXPECT_THAT(line.replays->timing_error(), DoubleNear(0.1, 1e-12));
    EXPECT_THAT(*line.replays->scheduling_error(), DoubleNear(1.2 / 1.1 - 1, 1e-12));
    EXPECT_THAT((1 + line.replays->timing_error()) * (1 + *line.replays->scheduling_error()),
                DoubleNear(line.ratio->value, 1e-12));
    const CsvTable table = CsvTable::parse(validation_csv(validate("v", {"platform.nodes"}, {pair})));
    for (const std::string& column : table.columns())
        EXPECT_NE(describe_column("results.csv", column).meaning, "a key of the experiment") << column;
    EXPECT_THAT(table.columns(), ::testing::Contains("scheduling_error"));
}

// By hand: the runs that are replayed take 3 s in each way, so neither times nor the schedule are wrong.
TEST(Validation, OnlyRunsWithAReplayDivideTheError) {
    WorldPair pair;
    for (const double seconds : {1, 1, 3, 3, 3}) {
        pair.native.push_back(outcome(seconds));
        pair.simulated.push_back(outcome(seconds));
        pair.replayed.push_back(outcome(seconds));
    }
    pair.replayed[0] = pair.replayed[1] = {};  // not recorded
    pair.replayed[2].state = Outcome::State::failed;
    const ValidationLine line = validate_pair(pair);
    ASSERT_TRUE(line.replays);
    EXPECT_EQ(line.replays->runs, 2U);
    EXPECT_EQ(line.replays->timing_error(), 0);
    EXPECT_EQ(line.replays->scheduling_error(), 0);
    pair.simulated.resize(2);
    EXPECT_FALSE(validate_pair(pair).replays->scheduling_error());
    // All medians are of the same runs, so the last one is left out, whose simulation is missing.
    pair.native[4] = pair.replayed[4] = outcome(9);
    pair.simulated = {outcome(1), outcome(1), outcome(3), outcome(3)};
    EXPECT_EQ(validate_pair(pair).replays->runs, 1U);
    EXPECT_EQ(validate_pair(pair).replays->native, 3);
    EXPECT_EQ(validate_pair(pair).replays->scheduling_error(), 0);
    pair.native[4] = pair.replayed[4] = outcome(3);
    // Of a constant simulation all runs count.
    pair.simulated.resize(2);
    for (Outcome& run : pair.simulated) run = outcome(6, 10, true);
    EXPECT_EQ(validate_pair(pair).replays->scheduling_error(), 1);
    pair.replayed.clear();
    EXPECT_FALSE(validate_pair(pair).replays);
}

TEST(Validation, EachColumnOfTheTableIsDescribed) {
    const CsvTable table = CsvTable::parse(
        validation_csv(validate("v", {"platform.nodes"}, {pair_of({"1"}, 1, 1.02), {{"2"}, {}, {}}})));
    EXPECT_EQ(table.rows().size(), 2U);
    EXPECT_EQ(table.columns().front(), "platform_nodes");
    for (const std::string& column : table.columns())
        EXPECT_NE(describe_column("results.csv", column).meaning, "a key of the experiment") << column;
    EXPECT_EQ(describe_column("results.csv", "native_bytes").unit, "B");
    EXPECT_EQ(describe_column("results.csv", "platform_nodes").type, "string");
}

// The medians of native times are 1 and 2, and the rank test shows the opposite: neither is known to be
// faster.
TEST(Validation, RanksNoPairWhoseMedianAndMeanRankDisagree) {
    WorldPair first, second;
    first.values = {"a"};
    second.values = {"b"};
    for (std::size_t i = 0; i < 25; ++i) {
        first.native.push_back(outcome(i < 13 ? 1 : 100));
        second.native.push_back(outcome(i < 12 ? 0.5 : 2));
        first.simulated.push_back(outcome(1));
        second.simulated.push_back(outcome(2));
    }
    EXPECT_EQ(validate("", {"schedule.stealing.victim"}, {first, second}).ranking.pairs, 0U);
    for (Outcome& run : second.native) run.makespan_seconds = 200;
    EXPECT_EQ(validate("", {"schedule.stealing.victim"}, {first, second}).ranking.alike, 1U);
}

}  // namespace
}  // namespace heddle::results
