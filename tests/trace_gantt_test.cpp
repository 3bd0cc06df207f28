// Tests the picture of a run's tasks that pause and go on.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cli/gantt.hpp"

namespace heddle::cli {
namespace {

constexpr Time us(std::int64_t count) {
    return std::chrono::microseconds(count);
}

results::TracedTask task_at(std::uint64_t number, Time begin) {
    results::TracedTask task;
    task.note.number = number;
    task.begin = begin;
    task.kernel = "strand";
    return task;
}

std::string line_of_worker(const RunGantt& gantt) {
    const std::string start = "node 0 worker 0  ", picture = gantt.picture();
    EXPECT_TRUE(picture.starts_with(start)) << picture;
    return picture.substr(start.size(), picture.find('\n') - start.size());
}

TEST(TraceGantt, LeavesOutTheTimesInWhichATaskPauses) {
    RunGantt gantt;
    gantt.begin(1, 1);
    const results::TracedTask task = task_at(TaskNote::no_number, us(0));
    gantt.task_begins(task);
    gantt.task_pauses(task, us(16));
    gantt.task_goes_on(task, us(48));
    gantt.task_ends(task, {}, us(64));
    gantt.states_end(us(64));
    const std::string bar = "strand==========";
    EXPECT_EQ(line_of_worker(gantt), bar + std::string(32, '.') + bar);
}

TEST(TraceGantt, DrawsATaskThatDoesNotEndUntilTheEndOfTheRun) {
    RunGantt gantt;
    gantt.begin(1, 1);
    gantt.task_begins(task_at(TaskNote::no_number, us(48)));
    gantt.states_end(us(64));
    EXPECT_EQ(line_of_worker(gantt), std::string(48, '.') + "strand==========");
}

// A bar of its own for each microsecond would make 200,000. A bar, or two together, takes 1/1024 of the time
// before it: there are 1024 ln 200,000 pairs at most.
TEST(TraceGantt, TakesFewBarsForTasksThatTakeTurns) {
    constexpr std::int64_t turns = 200'000;
    RunGantt gantt;
    gantt.begin(1, 1);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        const std::int64_t number = turn % 2;
        const results::TracedTask task = task_at(static_cast<std::uint64_t>(number), us(number));
        if (turn == number)
            gantt.task_begins(task);
        else
            gantt.task_goes_on(task, us(turn));
        gantt.task_pauses(task, us(turn + 1));
    }
    gantt.states_end(us(2 * turns));
    const std::string line = line_of_worker(gantt);
    EXPECT_EQ(line.find('.'), 32U) << line;
    EXPECT_EQ(line.substr(32), std::string(32, '.'));
    EXPECT_LT(static_cast<double>(gantt.lines()[0].bars.size()), 2 * 1024 * std::log(turns));
}

}  // namespace
}  // namespace heddle::cli
