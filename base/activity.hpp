// The five activities of a worker's time, and a sheet that adds up how long each took. It reads no clock: a
// caller passes the time at which an activity begins.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/time.hpp"

namespace heddle {

enum class Activity : std::uint8_t {
    working,   ///< user work
    overhead,  ///< operations of the scheduler in and around tasks, and what messages take from the core
    stealing,  ///< looks for work elsewhere: attempts, and requests under way
    waiting,   ///< nothing else to do, and something that it needs is under way: a stolen task's result, data
    idle,      ///< nothing to do
};

inline constexpr std::array all_activities = {Activity::working, Activity::overhead, Activity::stealing,
                                              Activity::waiting, Activity::idle};

/// The word for people and files: the enumerator's name.
const char* name(Activity activity);

/// Time in each activity.
class ActivityTimes {
public:
    Time& operator[](Activity activity) { return times_[static_cast<std::size_t>(activity)]; }
    Time operator[](Activity activity) const { return times_[static_cast<std::size_t>(activity)]; }
    Time sum() const { return std::accumulate(times_.begin(), times_.end(), Time::zero()); }
    ActivityTimes& operator+=(const ActivityTimes& other) {
        for (std::size_t i = 0; i < times_.size(); ++i) times_[i] += other.times_[i];
        return *this;
    }
    bool operator==(const ActivityTimes&) const = default;

private:
    std::array<Time, all_activities.size()> times_{};
};

/// The same for many workers.
class ActivityTotals {
public:
    TimeSum& operator[](Activity activity) { return times_[static_cast<std::size_t>(activity)]; }
    TimeSum operator[](Activity activity) const { return times_[static_cast<std::size_t>(activity)]; }
    TimeSum sum() const { return std::accumulate(times_.begin(), times_.end(), TimeSum::zero()); }
    ActivityTotals& operator+=(const ActivityTimes& worker) {
        for (const Activity activity : all_activities) (*this)[activity] += worker[activity];
        return *this;
    }
    ActivityTotals& operator+=(const ActivityTotals& other) {
        for (const Activity activity : all_activities) (*this)[activity] += other[activity];
        return *this;
    }
    bool operator==(const ActivityTotals&) const = default;

private:
    std::array<TimeSum, all_activities.size()> times_{};
};

/// A time that the run is known to last, in picoseconds: some task was still to end then. Never too late, but
/// perhaps far too early. Shared by all workers of a process.
class alignas(64) RunReach {
public:
    Time get() const { return Time(reach_.load(std::memory_order_relaxed)); }

    /// A task ends at `time` or later. Small steps are not noted: many workers read what this writes.
    void note(Time time) {
        constexpr Time step = std::chrono::microseconds(10);
        if (time > get() + step) [[unlikely]]
            raise(time);
    }

private:
    void raise(Time time);

    std::atomic<std::int64_t> reach_{0};
};

/// The times of one worker from zero to a moment that is known only afterwards: the end of the last task of
/// the run. Sums are exact, because each activity ends where the next begins.
class TimeSheet {
public:
    /// `reach`, if any, must outlive the sheet. Without it the sheet remembers all changes since its last
    /// task.
    void follow(const RunReach& reach) { reach_ = &reach; }

    Activity current() const { return current_; }
    /// When that began.
    Time since() const { return since_; }

    /// From `now` on the worker does `next`. Returns what it did before. `now` does not go back.
    Activity enter(Activity next, Time now) {
        const Activity before = current_;
        if (in_task_) [[likely]] {
            times_[before] += now - since_;
            since_ = now;
        } else {
            remember(now);
        }
        current_ = next;
        return before;
    }

    /// A task is on the worker's stack, so the run lasts at least until it ends. From `begin_task` to
    /// `end_task`, the outermost ones, nothing need be remembered.
    void begin_task();
    void end_task() {
        in_task_ = false;
        settled_ = since_;
    }

    /// Times in [0, end). The sum is `end`, exactly. `end` is not before the end of the worker's last task,
    /// nor before what `reach` says.
    ActivityTimes until(Time end) const;

private:
    void remember(Time now);

    /// Adds up what lies before `time`.
    void settle(Time time);

    struct Change {
        Activity activity;
        Time end;
    };

    Activity current_ = Activity::idle;
    bool in_task_ = false;
    Time since_{};  ///< when `current_` began
    ActivityTimes times_;
    // Of no interest within a task.
    Time settled_{};               ///< how far `times_` goes; within a task to `since_`
    std::vector<Change> changes_;  ///< from `settled_` to `since_`, without gaps; none in a task
    std::size_t many_ = 4;         ///< so many changes, and it is worth looking how far the run reaches
    const RunReach* reach_ = nullptr;
};

}  // namespace heddle
