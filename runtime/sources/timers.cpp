// Keeps events in the order of their times, and completes those that are due.
#include "runtime/sources/timers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.hpp"
#include "base/units.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

namespace {

class Moment final : public Event {
public:
    explicit Moment(Time time) : time_(time) {}
    std::string what() const override { return fmt::format("the time {}", print_time(time_)); }

private:
    Time time_;
};

}  // namespace

void Timers::add(Context& caller, Time time, Event& event) {
    bool first = false;
    waiting_.add();
    {
        const SpinLock::Guard guard(lock_);
        entries_.push_back({time, added_++, &event});
        std::push_heap(entries_.begin(), entries_.end(), std::greater<>{});
        first = entries_.front().event == &event;
        show_next();
    }
    // Workers that sleep must wake earlier than they knew. All of them: one alone may find other work, and be
    // busy when the time comes.
    if (first) node_.wake_sleepers(caller);
}

void Timers::show_next() {
    next_.store((entries_.empty() ? never : entries_.front().time).count(), std::memory_order_seq_cst);
}

std::vector<Event*> Timers::take_due(Time now) {
    std::vector<Event*> due;
    const SpinLock::Guard guard(lock_);
    while (!entries_.empty() && entries_.front().time <= now) {
        due.push_back(entries_.front().event);
        std::pop_heap(entries_.begin(), entries_.end(), std::greater<>{});
        entries_.pop_back();
    }
    show_next();
    return due;
}

bool Timers::run(Worker& worker, Slot* /*head*/) {
    if (!waits_for(worker)) return false;
    worker.show_active();
    const std::vector<Event*> due = take_due(worker.backend->now(worker));
    waiting_.subtract(static_cast<std::uint32_t>(due.size()));
    for (Event* const event : due) event->complete(node_, worker);
    worker.show_passive();
    return !due.empty();
}

void sleep_until(Caller caller, Time time) {
    if (time > last_moment) {
        throw Error("a strand or task would sleep until after 106 days, where the time of a run ends",
                    "let it wait for an event, which another task, strand or message completes");
    }
    Worker& worker = caller.worker();
    if (worker.backend->now(worker) >= time) return;
    Moment moment(time);
    worker.node().state<Timers>().add(worker, time, moment);
    caller.wait(moment);
}

void sleep_for(Caller caller, Time time) {
    const Worker& worker = caller.worker();
    if (time > Time::zero()) sleep_until(caller, saturated_sum(worker.backend->now(worker), time));
}

}  // namespace heddle::runtime
