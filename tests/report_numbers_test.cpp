// Tests the report's numbers on small cases that are known by hand: letters, differences, causes, the path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "report/causes.hpp"
#include "report/findings.hpp"
#include "report/gantt_figure.hpp"
#include "report/html.hpp"
#include "report/letters.hpp"
#include "results/comparison.hpp"
#include "results/exact_seconds.hpp"

namespace heddle::report {
namespace {

using ::testing::ElementsAre;

constexpr Time us(std::int64_t count) {
    return std::chrono::microseconds(count);
}

TEST(Letters, SharedExactlyByLinesThatDoNotDiffer) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        Random random(seed);
        const std::size_t count = 2 + random.below(7);
        std::vector<std::vector<bool>> differ(count, std::vector<bool>(count));
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = i + 1; j < count; ++j) differ[i][j] = differ[j][i] = random.below(2) == 0;
        const auto names = letters(count, [&](std::size_t a, std::size_t b) { return differ[a][b]; });
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_FALSE(names[i].empty());
            for (std::size_t j = i + 1; j < count; ++j)
                EXPECT_EQ(names[i].find_first_of(names[j]) == std::string::npos, differ[i][j]) << seed;
        }
    }
}

// By hand: lines differ if they are not neighbours, so each pair of neighbours shares a letter of its own.
TEST(Letters, AChainOverlaps) {
    const auto far = [](std::size_t a, std::size_t b) { return (a > b ? a - b : b - a) > 1; };
    EXPECT_THAT(letters(4, far), ElementsAre("a", "ab", "bc", "c"));
}

TEST(Differences, AreFoundBetweenSamplesThatDoNotOverlap) {
    const std::vector<double> low = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6},
                              high = {2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6};
    const auto differ = differences({low, low, high, {3, 3}}, {false, false, false, true});
    EXPECT_FALSE(differ[0][1]);
    EXPECT_TRUE(differ[0][2] && differ[2][1]);
    EXPECT_TRUE(differ[3][2]) << "identical repeats are longer than each run";
}

// Five samples of five have ten pairs: without any overlap p is 10 * 2 / 252 = 0.079. Of six runs: 10 * 2 /
// 924.
TEST(Differences, CannotBeFoundByATestThatHasTooFewRuns) {
    const auto separated = [](std::size_t samples, std::size_t runs) {
        std::vector<std::vector<double>> all(samples);
        for (std::size_t i = 0; i < samples; ++i)
            for (std::size_t k = 0; k < runs; ++k)
                all[i].push_back(static_cast<double>(i + 1) + static_cast<double>(k) / 100);
        return all;
    };
    EXPECT_FALSE(all_can_differ(separated(5, 5), std::vector<bool>(5)));
    EXPECT_FALSE(differences(separated(5, 5), std::vector<bool>(5))[0][4]);
    EXPECT_TRUE(all_can_differ(separated(5, 6), std::vector<bool>(5)));
    EXPECT_TRUE(differences(separated(5, 6), std::vector<bool>(5))[0][4]);
    EXPECT_FALSE(all_can_differ(separated(2, 3), std::vector<bool>(2)));
    EXPECT_TRUE(all_can_differ(separated(2, 4), std::vector<bool>(2)));
    EXPECT_FALSE(all_can_differ(separated(2, 1), std::vector<bool>(2)));
    EXPECT_TRUE(all_can_differ({{1, 1}, {2, 2.1}}, {true, false})) << "no test applies to identical repeats";
}

/// Samples of random sizes, some of them shifted.
std::vector<std::vector<double>> random_samples(Random& random) {
    std::vector<std::vector<double>> samples(2 + random.below(7));
    for (auto& sample : samples) {
        const double shift = random.uniform();
        for (std::size_t left = 4 + random.below(7); left > 0; --left)
            sample.push_back(1 + shift + random.uniform());
    }
    return samples;
}

// What a line says of itself and the best must be what their letters say.
TEST(Differences, AreThoseThatTheStandingsAreJudgedBy) {
    std::size_t found = 0, chance = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const auto samples = random_samples(random);
        std::vector<results::Contender> contenders;
        for (const auto& sample : samples) {
            results::Contender one{{std::to_string(contenders.size())}, {}};
            for (const double makespan : sample) {
                results::Outcome run;
                run.state = results::Outcome::State::right;
                run.makespan_seconds = makespan;
                one.runs.push_back(run);
            }
            contenders.push_back(std::move(one));
        }
        const auto lines = results::compare("", {"key"}, contenders).groups[0].lines;
        const auto differ = differences(samples, std::vector<bool>(samples.size()));
        std::size_t best = 0;
        while (lines[best].standing != results::Standing::best) ++best;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i == best) continue;
            EXPECT_EQ(*lines[i].p_value < results::level, differ[best][i]) << seed;
            EXPECT_TRUE(differ[best][i] || lines[i].standing != results::Standing::worse) << seed;
            ++(differ[best][i] ? found : chance);
        }
    }
    EXPECT_GT(found, 50U);
    EXPECT_GT(chance, 50U);
}

TEST(ExactSeconds, ReadBackAsTheyWereWritten) {
    for (const std::int64_t picoseconds :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'439'824'929}, std::int64_t{7'000'000'000'000'123}})
        EXPECT_EQ(results::parse_exact_seconds(results::exact_seconds(Time(picoseconds))), Time(picoseconds));
    EXPECT_EQ(results::parse_exact_seconds("0.5"), us(500'000));
    EXPECT_FALSE(results::parse_exact_seconds("-1.0"));
    EXPECT_FALSE(results::parse_exact_seconds(""));
    EXPECT_FALSE(results::parse_exact_seconds("1.x"));
}

TEST(Html, EscapesWhatCouldEndATextOrAnAttribute) {
    EXPECT_EQ(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    HtmlTable table("t", "c", {"a"}, {"a"});
    table.add({text_value("50% of <b>, \"x\"")});
    EXPECT_EQ(table.csv(), "a\n\"50% of <b>, \"\"x\"\"\"\n");
    EXPECT_NE(table.latex().find("50\\% of \\textless{}b\\textgreater{}"), std::string::npos);
    EXPECT_EQ(table.html().find("<b>"), std::string::npos);
}

// LaTeX takes the bracket or star that follows the end of a line, also on the next one, as its argument.
TEST(Html, AListAtTheBeginOfALatexRowIsNoArgument) {
    HtmlTable table("t", "c", {"a", "b"}, {"a", "b"});
    for (const char* first : {"[1.0,0.5]", "*", "x"}) table.add({text_value(first), text_value("[2]")});
    const std::string latex = table.latex();
    EXPECT_NE(latex.find("\n{}[1.0,0.5] & [2] \\\\\n{}* & [2] \\\\\nx & [2] \\\\\n"), std::string::npos)
        << latex;
}

/// Workers whose nodes are given; each works while it has a task, and waits otherwise.
Recorded example(const std::vector<std::uint32_t>& nodes, std::vector<RecordedTask> tasks, Time makespan) {
    Recorded recorded;
    recorded.makespan = makespan;
    recorded.tasks = std::move(tasks);
    recorded.is_graph = true;
    for (const std::uint32_t node : nodes) recorded.workers.push_back({node, 0, 0, 0, {}, {}, {}});
    for (std::size_t i = 0; i < recorded.tasks.size(); ++i) {
        const RecordedTask& task = recorded.tasks[i];
        recorded.by_number[*task.number] = i;
        RecordedWorker& worker = recorded.workers[task.worker];
        const Time since = worker.stays.empty() ? Time::zero() : worker.stays.back().end;
        if (task.start > since) worker.stays.push_back({Activity::waiting, since, task.start});
        worker.stays.push_back({Activity::working, task.start, task.end});
        worker.tasks_begun.push_back(i);
    }
    for (RecordedWorker& worker : recorded.workers) {
        const Time since = worker.stays.empty() ? Time::zero() : worker.stays.back().end;
        if (makespan > since) worker.stays.push_back({Activity::idle, since, makespan});
    }
    return recorded;
}

RecordedTask task(std::uint64_t number, std::size_t worker, Time ready, Time start, Time end,
                  std::optional<std::size_t> enabler = {}) {
    RecordedTask made;
    made.number = number;
    made.kernel = "k";
    made.worker = worker;
    made.placed_node = static_cast<std::uint32_t>(worker);
    made.ready = ready;
    made.start = start;
    made.end = end;
    made.enabler = enabler;
    if (enabler) made.predecessors = {*enabler};
    return made;
}

TEST(Causes, AChainIsAllWork) {
    const Recorded chain = example({0},
                                   {task(0, 0, us(0), us(0), us(3)), task(1, 0, us(3), us(3), us(5), 0),
                                    task(2, 0, us(5), us(5), us(9), 1)},
                                   us(9));
    CauseTimes sum;
    for (const PathStep& step : critical_path(chain))
        for (const Cause cause : all_causes) sum[cause] += step.before[cause] + step.within[cause];
    EXPECT_EQ(sum[Cause::work], us(9));
    EXPECT_EQ(sum.sum(), us(9));
    EXPECT_EQ(critical_path(chain).size(), 3U);
    EXPECT_EQ(work_and_span(chain).span, us(9));
    EXPECT_EQ(causes_of_workers(chain)[0][Cause::work], us(9));
}

TEST(Causes, EqualTasksThatFillTheWorkersHaveNoWait) {
    std::vector<RecordedTask> tasks;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto begin = us(static_cast<std::int64_t>(i / 4));
        tasks.push_back(task(i, i % 4, us(0), begin, begin + us(1)));
    }
    const Recorded equal = example({0, 1, 2, 3}, std::move(tasks), us(250));
    for (const CauseTimes& worker : causes_of_workers(equal)) {
        EXPECT_EQ(worker[Cause::work], us(250));
        EXPECT_EQ(worker.sum(), us(250));
    }
    EXPECT_EQ(work_and_span(equal).span, us(1));
}

// Of two machines: by the clock of the second its task began before its predecessor had ended, and ended
// first.
TEST(Causes, ClocksThatDisagreeMakeNoTimeNegative) {
    RecordedTask after = task(1, 1, us(2), us(2), us(3));
    after.predecessors = {0};
    after.enabler = 1;
    const Recorded two = example({0, 1}, {after, task(0, 0, us(0), us(0), us(4))}, us(4));
    EXPECT_EQ(work_and_span(two).work, us(5));
    EXPECT_EQ(work_and_span(two).span, us(5));
    for (const CauseTimes& worker : causes_of_workers(two))
        for (const Cause cause : all_causes) EXPECT_GE(worker[cause], us(0)) << name(cause);
    for (const PathStep& step : critical_path(two))
        for (const Cause cause : all_causes)
            EXPECT_GE(std::min(step.before[cause], step.within[cause]), us(0)) << name(cause);
}

// Worker 1 rests: 4 us until the predecessor ends, 10 us until its data come, 1 us until it notices.
TEST(Causes, RestIsDividedByWhatTheNextTaskWaitedFor) {
    const Recorded two =
        example({0, 1}, {task(0, 0, us(0), us(0), us(4)), task(1, 1, us(14), us(15), us(20), 0)}, us(20));
    const auto causes = causes_of_workers(two);
    EXPECT_EQ(causes[1][Cause::no_task], us(4));
    EXPECT_EQ(causes[1][Cause::message], us(10));
    EXPECT_EQ(causes[1][Cause::wake_up], us(1));
    EXPECT_EQ(causes[0][Cause::no_task], us(16));
    EXPECT_EQ(causes[0].sum(), us(20));
    const auto path = critical_path(two);
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path[1].before[Cause::message], us(10));
    EXPECT_EQ(path[1].before[Cause::wake_up], us(1));
    EXPECT_EQ(path[0].before.sum() + path[0].within.sum() + path[1].before.sum() + path[1].within.sum(),
              us(20));
}

// Task 2 was ready at 2 us, and its worker ran task 1 until 9 us. Then it looked for work, and stole task 2.
TEST(Causes, ATaskThatWasReadyWaitedForTheOneBeforeItOnItsWorker) {
    Recorded two = example({0, 0},
                           {task(0, 0, us(0), us(0), us(2)), task(1, 1, us(0), us(0), us(9)),
                            task(2, 1, us(2), us(10), us(15), 0)},
                           us(15));
    two.workers[1].stays[1].activity = Activity::stealing;
    const auto path = critical_path(two);
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path[0].task, 1U);
    EXPECT_EQ(path[1].before[Cause::steal], us(1));
    EXPECT_EQ(path[1].before.sum(), us(1));
    EXPECT_EQ(path[0].within.sum(), us(9));
}

/// Whether the page draws each task; else it has shares of time.
bool draws_each(const Recorded& recorded) {
    Page page;
    add_gantt(page, recorded);
    const std::string html = page.html("t", "");
    const bool each = html.find("gantt-tasks") != html.npos;
    EXPECT_NE(each, html.find("gantt-shares") != html.npos);
    EXPECT_EQ(html.find("some wait while their worker runs others") != html.npos,
              !each && !recorded.tasks.empty());
    return each;
}

// Two of one worker overlap only if one has waited for the other, or they have come from other workers.
TEST(OverTime, DrawsEachTaskWhereTasksFollowEachOtherOrNest) {
    const auto with = [](std::vector<RecordedTask> tasks) {
        return example({0, 0}, std::move(tasks), us(9));
    };
    EXPECT_TRUE(draws_each(with({task(0, 0, us(0), us(0), us(4)), task(1, 0, us(0), us(4), us(9)),
                                 task(2, 1, us(0), us(2), us(6))})));
    EXPECT_TRUE(draws_each(with({task(0, 0, us(0), us(0), us(2)), task(1, 0, us(0), us(3), us(9)),
                                 task(2, 0, us(0), us(0), us(9))})));
    EXPECT_FALSE(draws_each(with({task(0, 0, us(0), us(0), us(5)), task(1, 0, us(0), us(4), us(9))})));
    EXPECT_FALSE(draws_each(with({task(0, 0, us(0), us(1), us(2)), task(1, 0, us(0), us(0), us(5)),
                                  task(2, 0, us(0), us(4), us(9))})));
    EXPECT_FALSE(draws_each(with({})));
}

// The main program of a node is a strand that waits for its pools, which are within it.
TEST(OverTime, DrawsNoStrandAsIfItNeverWaited) {
    std::vector<RecordedTask> tasks{task(0, 0, us(0), us(2), us(5)), task(1, 0, us(0), us(0), us(9))};
    for (RecordedTask& strand : tasks) strand.kernel = "strand";
    EXPECT_FALSE(draws_each(example({0}, std::move(tasks), us(9))));
}

// A median of whole numbers is halfway between two of them, or one of them.
TEST(Html, ShowsMediansOfCountsUnrounded) {
    EXPECT_EQ(count_value(170.5).shown, "170.5");
    EXPECT_EQ(count_value(51.5).shown, "51.5");
    EXPECT_EQ(count_value(170).shown, "170");
}

}  // namespace
}  // namespace heddle::report
