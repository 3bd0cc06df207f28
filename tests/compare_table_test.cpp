// Tests the report of a comparison, from results written down here: groups, ratios, significance, table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/random.hpp"
#include "cli/cell_progress.hpp"
#include "cli/cell_runner.hpp"
#include "cli/comparison_table.hpp"
#include "cli/progress_line.hpp"
#include "results/comparison.hpp"

namespace heddle::results {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Outcome right(double makespan, std::optional<double> bound = std::nullopt) {
    Outcome outcome;
    outcome.state = Outcome::State::right;
    outcome.makespan_seconds = makespan;
    outcome.lower_bound_seconds = bound;
    return outcome;
}

Outcome failed() {
    Outcome outcome;
    outcome.state = Outcome::State::failed;
    return outcome;
}

Contender contender(const std::vector<std::string>& values, const std::vector<double>& makespans) {
    Contender one{values, {}};
    for (const double makespan : makespans) one.runs.push_back(right(makespan, 0.75));
    return one;
}

/// Two sizes with three policies each: one is clearly worse, one not clearly; of the last nothing is there.
std::vector<Contender> example() {
    return {
        contender({"4", "none"}, {2, 2, 2, 2, 2}),
        contender({"4", "random"}, {1.0, 1.1, 1.2, 1.3, 1.4}),
        contender({"4", "lifeline"}, {1.05, 1.15, 1.25, 1.35, 1.45}),
        contender({"16", "none"}, {2, 2, 2, 2, 2}),
        {{"16", "random"}, {right(0.5), failed(), right(0.7), failed(), {}}},
        {{"16", "lifeline"}, {failed(), failed(), failed(), failed(), failed()}},
    };
}

const std::vector<std::string> keys = {"platform.nodes", "schedule.stealing.victim"};

TEST(Comparison, GroupsByAllKeysButTheLast) {
    const Comparison comparison = compare("example", keys, example());
    EXPECT_THAT(comparison.group_keys, ElementsAre("platform.nodes"));
    EXPECT_THAT(comparison.keys, ElementsAre("schedule.stealing.victim"));
    ASSERT_EQ(comparison.groups.size(), 2U);
    EXPECT_THAT(comparison.groups[1].values, ElementsAre("16"));
    EXPECT_THAT(comparison.groups[1].lines[2].values, ElementsAre("lifeline"));

    const Comparison other = compare("example", keys, example(), {"schedule.stealing.victim"});
    ASSERT_EQ(other.groups.size(), 3U);
    EXPECT_THAT(other.groups[0].values, ElementsAre("none"));
    EXPECT_THAT(other.groups[0].lines[1].values, ElementsAre("16"));
    EXPECT_THROW(compare("example", keys, example(), {"seed"}), Error);
    EXPECT_THROW(compare("example", keys, example(), keys), Error);
}

// Medians 1 and 2, but most pairs of runs have the shorter one in the second sample: p is that of the other
// claim.
TEST(Comparison, IsNotWorseIfItsMeanRankIsLower) {
    std::vector<double> first(13, 1.0), second(12, 0.5);
    first.insert(first.end(), 12, 100.0);
    second.insert(second.end(), 13, 2.0);
    const Comparison comparison = compare("", {"key"}, {contender({"a"}, first), contender({"b"}, second)});
    const std::vector<Line>& lines = comparison.groups[0].lines;
    EXPECT_EQ(lines[0].standing, Standing::best);
    EXPECT_NEAR(lines[1].p_value.value(), 0.0043675, 1e-7);
    EXPECT_EQ(lines[1].standing, Standing::undecided);
    EXPECT_THAT(cli::comparison_table(comparison), HasSubstr("lower mean rank (p 0.0044)"));
}

TEST(Comparison, SaysWhichDifferencesAreMoreThanChance) {
    const std::vector<Line> lines = compare("example", keys, example()).groups[0].lines;
    EXPECT_EQ(lines[1].standing, Standing::best);
    EXPECT_EQ(lines[1].median_seconds, 1.2);
    EXPECT_FALSE(lines[1].interval_seconds);  // all of five values cover the median with 94%
    EXPECT_EQ(lines[0].standing, Standing::worse);
    EXPECT_NEAR(lines[0].ratio.value(), 2 / 1.2, 1e-12);
    EXPECT_NEAR(lines[0].p_value.value(), 3 * 2.0 / 252, 1e-12);  // times three pairs (Holm)
    EXPECT_EQ(lines[2].standing, Standing::undecided);
    EXPECT_EQ(lines[2].lower_bound_seconds, 0.75);
}

// Once the third is known to be worse, four runs and four could show that the second is.
TEST(Comparison, EnoughRunsAreJudgedByWhatHolmsCorrectionLeaves) {
    const auto standing_of_second = [](const std::vector<double>& second) {
        const Comparison comparison = compare("", {"key"},
                                              {contender({"a"}, {1, 2, 3, 4}), contender({"b"}, second),
                                               contender({"c"}, {10, 11, 12, 13, 14, 15, 16, 17, 18})});
        EXPECT_EQ(comparison.groups[0].lines[2].standing, Standing::worse);
        EXPECT_THAT(cli::comparison_table(comparison), Not(HasSubstr("More runs are needed")));
        return comparison.groups[0].lines[1].standing;
    };
    EXPECT_EQ(standing_of_second({5, 6, 7, 8}), Standing::worse);
    EXPECT_EQ(standing_of_second({3.5, 6, 7, 8}), Standing::undecided);
}

// The best is chosen by the runs that it is compared with: with 9 tests in place of 45, every tenth group had
// a line that was called worse.
TEST(Comparison, SeldomCallsALineWorseWhereNothingDiffers) {
    constexpr int trials = 400;
    int claims = 0;
    for (int trial = 1; trial <= trials; ++trial) {
        Random random(static_cast<std::uint64_t>(trial));
        std::vector<Contender> alike;
        for (int i = 0; i < 10; ++i) {
            std::vector<double> makespans(8);
            for (double& makespan : makespans) makespan = 1 + random.uniform();
            alike.push_back(contender({std::to_string(i)}, makespans));
        }
        const std::vector<Line> lines = compare("", {"key"}, alike).groups[0].lines;
        claims +=
            std::ranges::any_of(lines, [](const Line& line) { return line.standing == Standing::worse; });
    }
    EXPECT_LT(claims, trials * 6 / 100);
}

// None of 41 samples overlaps another one: p is that of one test times the number of pairs.
TEST(Comparison, JudgesGroupsOfManyByTheNumberOfPairs) {
    std::vector<Contender> many;
    for (int i = 0; i < 41; ++i) {
        std::vector<double> makespans;
        for (int k = 0; k < 9; ++k) makespans.push_back(i + 1 + k / 10.0);
        many.push_back(contender({std::to_string(i)}, makespans));
    }
    const std::vector<Line> lines = compare("", {"key"}, many).groups[0].lines;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        EXPECT_EQ(lines[i].standing, Standing::worse) << i;
        EXPECT_NEAR(lines[i].p_value.value(), 41 * 40 / 2 * 2.0 / 48620, 1e-12);
    }
}

TEST(Comparison, SixRunsHaveAnInterval) {
    const Comparison comparison =
        compare("", {"key"}, {contender({"a"}, {3, 1, 4, 1.5, 5, 9}), contender({"b"}, {10, 10, 10})});
    const std::vector<Line>& lines = comparison.groups[0].lines;
    ASSERT_TRUE(lines[0].interval_seconds);
    // All six values cover the median with 97%: 5 / 14 of the way to the next inwards is 95%.
    EXPECT_NEAR(lines[0].interval_seconds->low, 1 + 0.5 * 5 / 14, 1e-12);
    EXPECT_NEAR(lines[0].interval_seconds->high, 9 - 4.0 * 5 / 14, 1e-12);
    EXPECT_FALSE(lines[1].interval_seconds);
    EXPECT_THAT(comparison_csv(comparison), ContainsRegex("a,6,0,3.5,1.17857[0-9]*,7.57142[0-9]*,false"));
    EXPECT_THAT(cli::comparison_table(comparison), HasSubstr("Too few runs for an interval"));
}

TEST(Comparison, CountsOnlyRunsWithARightAnswer) {
    const std::vector<Line> lines = compare("example", keys, example()).groups[1].lines;
    EXPECT_EQ(lines[1].runs, 2U);
    EXPECT_EQ(lines[1].bad, 2U);
    EXPECT_EQ(lines[1].missing, 1U);
    EXPECT_EQ(lines[1].median_seconds, 0.6);
    EXPECT_EQ(lines[1].standing, Standing::best);
    EXPECT_FALSE(lines[1].lower_bound_seconds);
    EXPECT_EQ(lines[0].standing, Standing::untested);  // with two runs against five: 2/21 at least
    EXPECT_EQ(lines[2].standing, Standing::no_result);
}

TEST(Comparison, RunsThatTakeNoTimeAreAlike) {
    const std::vector<Line> lines =
        compare("", {"key"}, {contender({"a"}, {0.0}), contender({"b"}, {0.0})}).groups[0].lines;
    EXPECT_EQ(lines[0].ratio, 1);
    EXPECT_EQ(lines[1].ratio, 1);
}

TEST(Comparison, ARatioToARunThatTakesNoTimeIsUnknown) {
    const Comparison comparison =
        compare("", {"key"},
                {contender({"a"}, {0.0, 0.0}), contender({"b"}, {1.0, 1.0}), contender({"c"}, {0.0, 0.0})});
    const std::vector<Line>& lines = comparison.groups[0].lines;
    EXPECT_EQ(lines[0].ratio, 1);
    EXPECT_FALSE(lines[1].ratio);
    EXPECT_EQ(lines[2].ratio, 1);
    EXPECT_EQ(standing_in_words(lines[2]), "as good");
    EXPECT_THAT(comparison_csv(comparison), HasSubstr("b,2,0,1.0,,,false,,"));
    EXPECT_TRUE(
        nlohmann::json::parse(comparison_json(comparison))["groups"][0]["lines"][1]["ratio"].is_null());
    EXPECT_THAT(cli::comparison_table(comparison), HasSubstr("     -  750 ms  too few runs to tell"));
}

TEST(Comparison, KnowsHowManyRunsADifferenceNeeds) {
    EXPECT_EQ(runs_needed(1), 1U);
    EXPECT_EQ(runs_needed(2), 4U);  // 2 / (8 over 4) = 2/70; three runs: 2/20
    EXPECT_EQ(runs_needed(7), 6U);  // 21 pairs: 42/924 is just below 0.05
    EXPECT_EQ(runs_needed(8), 7U);
}

// Six of nine lines have repeats that differ: 15 pairs take 6 runs. All pairs of the larger group are tested.
TEST(Comparison, AsksForTheRunsOfThoseThatCannotBeToldApart) {
    std::vector<Contender> contenders;
    const auto add = [&](const std::string& group, int number, std::size_t runs, bool identical) {
        Contender one{{group, std::to_string(number)}, {}};
        for (std::size_t i = 0; i < runs; ++i) {
            const double more = identical ? 1.0 : 0.001 * static_cast<double>(i);
            one.runs.push_back(right(1 + 0.1 * number + more));
            one.runs.back().deterministic = true;
        }
        contenders.push_back(std::move(one));
    };
    for (int i = 0; i < 9; ++i) add("few", i, 5, i % 3 == 2);
    for (int i = 0; i < 12; ++i) add("many", i, 8, false);
    const Comparison comparison = compare("", {"group", "key"}, contenders);
    EXPECT_EQ(comparison.groups[0].lines[1].standing, Standing::untested);
    EXPECT_TRUE(comparison.groups[0].lines[2].identical);
    EXPECT_EQ(comparison.groups[1].lines[1].standing, Standing::worse);
    EXPECT_THAT(cli::comparison_table(comparison), HasSubstr("more than chance: --repeat 6\n"));
}

TEST(Comparison, NamesTheCorrectionOfLargeGroups) {
    std::vector<Contender> contenders;
    for (int i = 0; i < 40; ++i) contenders.push_back(contender({std::to_string(i)}, {1.0 + i}));
    EXPECT_THAT(cli::comparison_table(compare("", {"key"}, contenders)), Not(HasSubstr("Bonferroni")));
    contenders.push_back(contender({"40"}, {41}));
    const Comparison comparison = compare("", {"key"}, contenders);
    EXPECT_THAT(cli::comparison_table(comparison),
                HasSubstr("Of more than 40 the correction is Bonferroni's.\n"));
    EXPECT_THAT(comparison_json(comparison), HasSubstr("Bonferroni's if more than 40 are tested"));
}

TEST(Comparison, TheTableIsThisOne) {
    EXPECT_EQ("\n" + cli::comparison_table(compare("example", keys, example())), R"(
   victim    median  from  to  ratio   bound  against the best

platform.nodes 4
   none         2 s             1.67  750 ms  worse (p 0.024)
*  random     1.2 s             1.00  750 ms  best
   lifeline  1.25 s             1.04  750 ms  may be chance (p 0.69)

platform.nodes 16
   none         2 s             3.33  750 ms  too few runs to tell
*  random    600 ms             1.00       -  best; 2 failed; 1 missing
   lifeline       -                           no result; 5 failed

* the least median of its group; 95% intervals of medians. worse: by Mann and Whitney's test,
  Holm's correction over all pairs of the group, p below 0.05. bound: no run of this work on this
  machine can be shorter.
  Too few runs for an interval of each median: --repeat 6
  More runs are needed before a difference can be more than chance: --repeat 5
)");
}

TEST(Comparison, CsvAndJsonSayTheSameAsTheTable) {
    const Comparison comparison = compare("example", keys, example());
    EXPECT_THAT(
        comparison_csv(comparison),
        HasSubstr(
            "platform_nodes,schedule_stealing_victim,runs,failed,median_seconds,low_seconds,high_seconds,"
            "identical,ratio,lower_bound_seconds,p_value,standing,against_best\n4,none,5,0,2.0,,,false,"));
    EXPECT_THAT(comparison_csv(comparison), HasSubstr("\n16,lifeline,0,5,,,,false,,,,no result,no result\n"));
    const auto json = nlohmann::json::parse(comparison_json(comparison));
    EXPECT_EQ(json["groups"][0]["best"]["schedule.stealing.victim"], "random");
    EXPECT_EQ(json["groups"][0]["lines"][2]["standing"], "undecided");
    EXPECT_EQ(json["groups"][1]["lines"][1]["makespan_seconds"]["median"], 0.6);
    EXPECT_TRUE(json["groups"][1]["lines"][1]["lower_bound_seconds"].is_null());
    EXPECT_FALSE(json["groups"][1]["lines"][2].contains("ratio"));
}

// Without the p-value and the counts of runs, which have columns of their own.
TEST(Comparison, CsvAndJsonHaveTheWordsOfTheTable) {
    Contender identical = contender({"identical"}, {1, 1, 1, 1});
    for (Outcome& run : identical.runs) run.deterministic = true;
    std::vector<double> first(13, 1.0), second(12, 0.5);
    first.insert(first.end(), 12, 100.0);
    second.insert(second.end(), 13, 2.0);
    const std::vector<std::pair<std::vector<Contender>, std::string>> cases = {
        {{contender({"best"}, {1, 2, 3, 4}), contender({"other"}, {5, 6, 7, 8})}, "worse"},
        {{contender({"best"}, {1, 2, 3, 4}), contender({"other"}, {1.5, 2.5, 3.5, 4.5})}, "may be chance"},
        {{contender({"best"}, {1, 2, 3, 4}), contender({"other"}, {1, 2, 3, 4})}, "as good"},
        {{contender({"best"}, {1, 2}), contender({"other"}, {1, 2})}, "as good"},
        {{contender({"best"}, {1, 2}), contender({"other"}, {3, 4})}, "too few runs to tell"},
        {{contender({"best"}, first), contender({"other"}, second)}, "lower mean rank"},
        {{identical, contender({"other"}, {0.9, 1.2, 1.3, 1.4})}, "not tested"},
        {{identical, contender({"other"}, {1.1, 1.2, 1.3, 1.4})}, "longer in every run"},
        {{identical, {{"other"}, {failed()}}}, "no result"}};
    for (const auto& [contenders, words] : cases) {
        const Comparison comparison = compare("", {"key"}, contenders);
        EXPECT_THAT(comparison_csv(comparison), HasSubstr("," + words + "\n"));
        EXPECT_EQ(nlohmann::json::parse(comparison_json(comparison))["groups"][0]["lines"][1]["against_best"],
                  words);
        EXPECT_THAT(cli::comparison_table(comparison), HasSubstr("  " + words)) << words;
    }
}

TEST(Progress, SaysHowFarItIsAndHowLongItTakes) {
    EXPECT_EQ(cli::progress_text({60, 15, 2, 250}, true),
              "[=======                       ] 15 of 60 cells, 2 failed, about 4 min 10 s left");
    EXPECT_EQ(cli::progress_text({60, 0, 0, -1}, false), "0 of 60 cells");
    EXPECT_EQ(cli::progress_text({60, 60, 0, 0}, true), "[==============================] 60 of 60 cells");
    EXPECT_EQ(cli::duration_in_words(0.2), "1 s");
    EXPECT_EQ(cli::duration_in_words(7500), "2 h 05 min");
}

TEST(Progress, SaysThatARunIsBeingSetUp) {
    EXPECT_EQ(cli::run_progress_text("fib, seed 1", 0, 0, 8.2), "fib, seed 1: setting up, 8 s");
    EXPECT_EQ(cli::run_progress_text("fib, seed 1", 0, 0.002, 9), "fib, seed 1: 0 tasks, at 2 ms, 9 s");
    EXPECT_EQ(cli::run_progress_text("fib, seed 1", 12345, 0.002, 9),
              "fib, seed 1: 12,345 tasks, at 2 ms, 9 s");
}

TEST(Progress, TakesTheLastThatHeddleSaidForTheError) {
    EXPECT_EQ(cli::error_in_words(2, "noise\nheddle: first\nheddle: second; do this\nmore noise\n"),
              "second; do this");
    EXPECT_EQ(cli::error_in_words(1, "first\nlast\n\n"), "last");
    EXPECT_EQ(cli::error_in_words(7, ""), "exit code 7");
    EXPECT_EQ(cli::error_in_words(139, "out of luck"),
              "ended by signal 11 (Segmentation fault): out of luck");
}

}  // namespace
}  // namespace heddle::results
