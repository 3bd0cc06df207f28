// Tests the first sentences of a report: which combinations they call fastest, and what they say of the
// others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sections.hpp"
#include "tests/cli_testing.hpp"

namespace heddle::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportSummary : public testing_cli::Folder {
protected:
    struct Repeats {
        std::string victim;
        std::vector<double> right;  ///< makespans
        int wrong = 0;
        int nodes = 1;
    };

    /// The summary of such runs. Workers work for the makespan.
    std::string summary(const std::vector<Repeats>& all) const {
        std::string table =
            "cell,ok,makespan_seconds,time_seconds_working,workload_name,platform_nodes,schedule_stealing_"
            "victim,backend,seed\n";
        int cell = 0;
        for (const Repeats& one : all) {
            int seed = 0;
            const auto add = [&](bool ok, double makespan) {
                table += fmt::format("c{},{},{},{},fib,{},{},sim,{}\n", ++cell, ok, makespan, makespan,
                                     one.nodes, one.victim, ++seed);
            };
            for (const double makespan : one.right) add(true, makespan);
            for (int i = 0; i < one.wrong; ++i) add(false, 0.001);
        }
        file("runs.csv", table);
        const Runs runs = read_runs({folder});
        const Design design = design_of(runs);
        const Findings findings = find_out(runs, design, {});
        return summary_of({runs, design, findings});
    }
};

const std::vector<double> one_second = {0.98, 0.99, 1, 1.01, 1.02};
const std::vector<double> two_seconds = {1.97, 1.98, 1.99, 2, 2.01};

TEST_F(ReportSummary, NamesWhatHadTooFewRunsApartFromTheFastest) {
    EXPECT_THAT(summary({{"none", one_second}, {"random", two_seconds}, {"local_first", {4.76}, 4}}),
                AllOf(HasSubstr("<strong>none</strong> is fastest: 1 s. The next, random, takes "
                                "<strong>1.99 times</strong> as long (p = 0.024)."),
                      HasSubstr("<strong>local_first</strong> (4.76 s) had too few runs to be compared."),
                      HasSubstr("The reason: all workers together are 1 s at work with none, and 1.99 s "
                                "with random.")));
}

TEST_F(ReportSummary, GivesEachThatIsNotShownToBeSlowerItsOwnMedian) {
    EXPECT_THAT(summary({{"none", one_second},
                         {"local_first", {0.97, 1.5, 1.6, 1.7, 0.99}},
                         {"random", {3, 3.1, 3.2, 3.3, 3.4}}}),
                HasSubstr("<strong>none</strong> has the least median: 1 s. <strong>local_first</strong> "
                          "(1.5 s) is not shown to be slower. The next, random, takes"));
}

TEST_F(ReportSummary, GivesNoReasonForADifferenceThatMayBeChance) {
    EXPECT_THAT(summary({{"none", one_second}, {"random", {0.97, 1.5, 1.6, 1.7, 0.99}}}),
                AllOf(HasSubstr("but no difference is significant"), Not(HasSubstr("The reason"))));
    EXPECT_THAT(summary({{"none", {1}}, {"random", {2}}}),
                AllOf(HasSubstr("but there are too few runs to tell"), Not(HasSubstr("The reason"))));
}

TEST_F(ReportSummary, HasNoRatioToARunThatTakesNoTime) {
    EXPECT_THAT(summary({{"none", {0, 0, 0}}, {"random", {2, 2, 2}}}),
                AllOf(HasSubstr("The next, random, takes <strong>2 s</strong> (longer in every run)."),
                      Not(HasSubstr("times"))));
}

TEST_F(ReportSummary, CountsNoWinForTooFewRuns) {
    EXPECT_THAT(
        summary({{"none", one_second},
                 {"random", two_seconds},
                 {"local_first", {4.76}, 4},
                 {"none", one_second, 0, 2},
                 {"random", two_seconds, 0, 2},
                 {"local_first", {4.76}, 4, 2}}),
        HasSubstr("<p><strong>none</strong> is fastest, or not shown to be slower, in 2 of 2 groups."));
}

TEST_F(ReportSummary, CountsTiesOfUndecidedGroupsForAllThatTie) {
    const std::vector<double> short_one = {0.001, 0.001, 0.001};
    EXPECT_THAT(summary({{"none", short_one},
                         {"random", short_one},
                         {"none", short_one, 0, 2},
                         {"random", short_one, 0, 2},
                         {"none", two_seconds, 0, 4},
                         {"random", one_second, 0, 4}}),
                AllOf(HasSubstr("<p><strong>random</strong> is fastest, or not shown to be slower, in 3 of 3 "
                                "groups.</p><p><strong>random</strong> is fastest at platform.nodes 4: 1 s."),
                      HasSubstr("<strong>1.99 times</strong> as long")));
}

TEST_F(ReportSummary, CountsWhatIsNotShownToBeSlowerInUndecidedGroups) {
    const std::vector<double> wide = {0.97, 1.5, 1.6, 1.7, 0.99};
    EXPECT_THAT(
        summary({{"none", one_second},
                 {"random", wide},
                 {"none", one_second, 0, 2},
                 {"random", wide, 0, 2},
                 {"none", two_seconds, 0, 4},
                 {"random", one_second, 0, 4}}),
        HasSubstr("<p><strong>random</strong> is fastest, or not shown to be slower, in 3 of 3 groups."));
}

TEST_F(ReportSummary, ShowsADecidedGroupFirst) {
    // local_first has more groups, and none of them is decided.
    EXPECT_THAT(
        summary({{"local_first", {1}},
                 {"none", {4}},
                 {"local_first", {1}, 0, 2},
                 {"none", {4}, 0, 2},
                 {"random", one_second, 0, 4},
                 {"none", two_seconds, 0, 4}}),
        AllOf(HasSubstr("<p><strong>local_first</strong> is fastest, or not shown to be slower, in 2 of 3 "
                        "groups.</p><p><strong>random</strong> is fastest at platform.nodes 4")));
}

TEST_F(ReportSummary, NamesAllThatHaveTheLeastMedianOfSingleRuns) {
    EXPECT_THAT(summary({{"none", {0.5}},
                         {"random", {0.5}},
                         {"none", {0.5}, 0, 2},
                         {"random", {0.5}, 0, 2},
                         {"none", {2}, 0, 4},
                         {"random", {1}, 0, 4}}),
                HasSubstr("<p><strong>random</strong> has the least median in 3 of 3 groups.</p><p><strong>"
                          "random</strong> takes 1 s at platform.nodes 4, and the slowest, none, takes "
                          "<strong>2.00 times</strong> as long, but there are too few runs to tell"));
}

TEST_F(ReportSummary, CallsNoneOfThoseThatTieTheSlowest) {
    EXPECT_EQ(
        summary({{"none", {0.5}}, {"random", {0.5}}, {"local_first", {0.5}}}),
        "<p><strong>none</strong>, <strong>random</strong> and <strong>local_first</strong> take 500 ms "
        "each.</p>");
}

}  // namespace
}  // namespace heddle::report
