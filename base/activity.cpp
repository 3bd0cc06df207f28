// Adds up how long a worker spent in each activity, from the moments at which its activity changed.
#include "base/activity.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace heddle {

const char* name(Activity activity) {
    constexpr std::array<const char*, all_activities.size()> names = {"working", "overhead", "stealing",
                                                                      "waiting", "idle"};
    return names[static_cast<std::size_t>(activity)];
}

void RunReach::raise(Time time) {
    std::int64_t known = reach_.load(std::memory_order_relaxed);
    while (time.count() > known &&
           !reach_.compare_exchange_weak(known, time.count(), std::memory_order_relaxed)) {
    }
}

// Invariant: `times_` covers [0, settled_), `changes_` the rest up to since_, and since then it is
// `current_`. Within a task there are no changes, and `times_` covers [0, since_). What is settled lies
// before the end of the run, whenever that will be.
void TimeSheet::remember(Time now) {
    if (now > since_) changes_.push_back({current_, now});
    since_ = now;
    if (changes_.size() < many_) return;
    if (reach_) settle(reach_->get());
    many_ = std::max<std::size_t>(4, 2 * changes_.size());
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
    Time begin = in_task_ ? since_ : settled_;
    HEDDLE_ASSERT(end >= begin);
    ActivityTimes times = times_;
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
