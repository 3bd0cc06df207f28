// Events that happen at a time: a strand or task waits for one, or any code completes another event by it. A
// worker without other work sleeps until the first is due.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "runtime/core/caller.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/core/wait.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// `node.state<Timers>()`. The run does not end before all that was added has happened.
class Timers final : public State<Node>, public WorkSource {
public:
    explicit Timers(Node& node) : node_(node) { node.sources().add(*this); }

    /// A worker of the node completes `event` at `time` of the run, or as soon after it as it looks for work.
    /// The event must live until then.
    void add(Context& caller, Time time, Event& event);

    bool waits_for(const Worker& worker) const override { return next() <= worker.backend->now(worker); }
    bool run(Worker& worker, Slot* head) override;
    Time due() const override { return next(); }

private:
    struct Entry {
        Time time;
        std::uint64_t number;  ///< of two with one time the first added comes first
        Event* event;

        bool operator>(const Entry& other) const {
            return time != other.time ? time > other.time : number > other.number;
        }
    };

    Time next() const { return Time(next_.load(std::memory_order_seq_cst)); }
    std::vector<Event*> take_due(Time now);
    void show_next();

    Node& node_;
    SpinLock lock_;               ///< over `entries_` and `added_`
    std::vector<Entry> entries_;  ///< a heap, the earliest in front
    std::uint64_t added_ = 0;
    std::atomic<Time::rep> next_{never.count()};
};

/// Returns when the run's time is `time` or later. The caller's worker does other work meanwhile. Throws
/// Error if that is after the last moment.
void sleep_until(Caller caller, Time time);
void sleep_for(Caller caller, Time time);

}  // namespace heddle::runtime
