// Tests how a worker's time is added up: sums are exact, and end with the run, whose end is known only later.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/activity.hpp"
#include "base/random.hpp"

namespace heddle {
namespace {

constexpr Time us(std::int64_t count) {
    return std::chrono::microseconds(count);
}

// By hand: idle [0, 2), overhead [2, 3), working [3, 8), overhead [8, 9), stealing [9, 12), idle from 12.
TEST(ActivityTimes, WhatLiesBeyondTheEndIsNotCounted) {
    TimeSheet sheet;
    EXPECT_EQ(sheet.current(), Activity::idle);
    EXPECT_EQ(sheet.enter(Activity::overhead, us(2)), Activity::idle);
    sheet.begin_task();
    sheet.enter(Activity::working, us(3));
    EXPECT_EQ(sheet.enter(Activity::overhead, us(8)), Activity::working);
    sheet.end_task();
    sheet.enter(Activity::stealing, us(9));
    sheet.enter(Activity::idle, us(12));
    const auto expect = [&](Time end, std::vector<Time> times) {
        const ActivityTimes found = sheet.until(end);
        for (const Activity activity : all_activities)
            EXPECT_EQ(found[activity], times[static_cast<std::size_t>(activity)]) << name(activity);
        EXPECT_EQ(found.sum(), end);
    };
    expect(us(8), {us(5), us(1), us(0), us(0), us(2)});
    expect(us(11), {us(5), us(2), us(2), us(0), us(2)});
    expect(us(20), {us(5), us(2), us(3), us(0), us(10)});
}

TEST(ActivityTimes, AWorkerThatDidNothingWasIdle) {
    EXPECT_EQ(TimeSheet().until(us(7))[Activity::idle], us(7));
}

// Against a list of all changes, cut off at the end: with and without knowing how far the run reaches.
TEST(ActivityTimes, RandomLivesAddUpAsTheirChangesDo) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        RunReach reach;
        TimeSheet sheet;
        if (seed % 2 == 0) sheet.follow(reach);
        std::vector<std::pair<Time, Activity>> changes = {{Time::zero(), Activity::idle}};
        Time now{};
        Time last_task_end{};
        bool in_task = false;
        for (int step = 0; step < 2000; ++step) {
            now += Time(static_cast<std::int64_t>(random.below(3) * random.below(1'000'000)));
            const auto activity = all_activities[random.below(all_activities.size())];
            sheet.enter(activity, now);
            changes.emplace_back(now, activity);
            if (random.below(seed % 3 == 0 ? 10 : 500) != 0) continue;
            in_task = !in_task;
            if (in_task) {
                sheet.begin_task();
            } else {
                sheet.end_task();
                last_task_end = now;
                reach.note(now);
            }
        }
        if (in_task) last_task_end = now;
        ASSERT_LE(reach.get(), last_task_end);
        for (const Time end : {last_task_end, last_task_end + us(3), now + us(1)}) {
            ActivityTimes expected;
            for (std::size_t i = 0; i < changes.size(); ++i) {
                const Time until = i + 1 < changes.size() ? changes[i + 1].first : Time::max();
                expected[changes[i].second] += std::min(until, end) - std::min(changes[i].first, end);
            }
            ASSERT_EQ(sheet.until(end), expected) << "seed " << seed;
        }
    }
}

TEST(ActivityTimes, ReachNeverGoesBackAndNeverTooFar) {
    RunReach reach;
    reach.note(us(100));
    EXPECT_EQ(reach.get(), us(100));
    reach.note(us(50));
    EXPECT_EQ(reach.get(), us(100));
    reach.note(us(101));
    EXPECT_GE(reach.get(), us(100));
    EXPECT_LE(reach.get(), us(101));
}

}  // namespace
}  // namespace heddle
