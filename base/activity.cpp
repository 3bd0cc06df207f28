#include "base/activity.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace heddle {

const char* name(Activity activity) {
    constexpr std::array<const char*, all_activities.size()> names = {"working", "overhead", "stealing",
                                                                      "waiting", "idle"};
    return names[static_cast<std::size_t>(activity)];
}

void RunReach::note(Time time) {
    constexpr Time step = std::chrono::microseconds(10);
    std::int64_t known = reach_.load(std::memory_order_relaxed);
    while (time.count() > known + step.count() &&
           !reach_.compare_exchange_weak(known, time.count(), std::memory_order_relaxed)) {
    }
}

// Invariant: `times_` covers [0, settled_), `changes_` the rest up to since_, and since then it is
// `current_`. What is settled lies before the end of the run, whenever that will be.
Activity TimeSheet::enter(Activity next, Time now) {
    now = std::max(now, since_);
    if (in_task_) {
        times_[current_] += now - since_;
        settled_ = now;
    } else if (now > since_) {
        changes_.push_back({current_, now});
    }
    since_ = now;
    const Activity before = current_;
    current_ = next;
    if (changes_.size() >= many_) {
        if (reach_) settle(reach_->get());
        many_ = std::max<std::size_t>(64, 2 * changes_.size());
    }
    return before;
}

void TimeSheet::begin_task() {
    if (in_task_) return;
    settle(since_);
    in_task_ = true;
}

void TimeSheet::settle(Time time) {
    auto change = changes_.begin();
    for (; change != changes_.end() && change->end <= time; ++change) {
        times_[change->activity] += change->end - settled_;
        settled_ = change->end;
    }
    changes_.erase(changes_.begin(), change);
}

ActivityTimes TimeSheet::until(Time end) const {
    HEDDLE_ASSERT(end >= settled_);
    ActivityTimes times = times_;
    Time begin = settled_;
    const auto add = [&](Activity activity, Time until) {
        until = std::clamp(until, begin, end);
        times[activity] += until - begin;
        begin = until;
    };
    for (const Change& change : changes_) add(change.activity, change.end);
    add(current_, end);
    return times;
}

}  // namespace heddle
