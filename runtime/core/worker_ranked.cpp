// A worker's ranked tasks, those of placed graphs: it runs its own in the order of the schedule, and steals
// the last of another worker. The type of a task holds its code.
#include <cstring>
#include <utility>

#include "runtime/core/node.hpp"
#include "runtime/core/task_record.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

bool Worker::run_ranked(Slot* head) {
    if (ranked_.size() == 0) return false;
    show_active();
    auto task = ranked_.take_first();
    const bool found = task.has_value();
    if (found) {
        begin_task();
        keeps_ = depth_ == 1;
        while (task) {
            charge(costs->token);
            run_taken(*task, head);
            task = another_ranked();
        }
        keeps_ = false;
        receives_after_each() ? leave_task() : end_task();
    }
    show_passive();
    return found;
}

/// Whether it receives after each task, as long as that may take. The run ends with its last task.
bool Worker::receives_after_each() const {
    return polled_ && !pace_.polls();
}

/// The task to run right after a ranked one, as one piece of work: asking for the time and showing oneself
/// active would take longer than a small task does. Not above a task that waits. Each counts as a run of the
/// node's sources (run_sources).
std::optional<RankedQueue::Taken> Worker::another_ranked() {
    if (!receives_after_each()) {
        poll();
        return next_ranked();
    }
    note_task_end();
    poll();
    auto task = next_ranked();
    if (task) {
        times.begin_task();
        enter_now(undeclared_);
    }
    return task;
}

std::optional<RankedQueue::Taken> Worker::next_ranked() {
    const WorkSources& sources = node_.sources();
    const bool goes_on = depth_ == 1 && !sources.waits_before(node_.ranked(), *this) && !node_.stopping() &&
                         (++runs_ < runs_max || !sources.waits_besides(node_.ranked(), *this));
    if (goes_on && kept_ && kept_->rank < ranked_.first_rank()) {
        const RankedTask task = *kept_;
        kept_.reset();
        return RankedQueue::Taken{task};
    }
    if (kept_) {
        ranked_.reserve(1, std::memory_order_relaxed);
        put_kept();
    }
    return goes_on ? ranked_.take_first() : std::nullopt;
}

bool Worker::keep(const RankedTask& task) {
    if (!keeps_ || depth_ != 1 || task.rank > ranked_.first_rank()) return false;
    if (kept_) {
        if (task.rank > kept_->rank) return false;
        put_kept();
    }
    kept_ = task;
    // This worker has its next task, so thieves may take all that are in the queue. If a thief sleeps that
    // has seen less, it misses a task that this worker runs later.
    ranked_.reserve(0, std::memory_order_relaxed);
    if (ranked_.size() != 0 && node_.wants_work()) node_.ranked().share(*this, outbox_, *this);
    return true;
}

void Worker::put_kept() {
    const RankedTask task = *kept_;
    kept_.reset();
    node_.ranked().put(*this, outbox_, id.core, task);
}

void Worker::run_taken(const RankedQueue::Taken& taken, Slot* head) {
    if (taken.last) node_.ranked().emptied();
    ranked_.reserve(0, std::memory_order_relaxed);
    count_task();
    alignas(16) std::byte payload[payload_bytes] = {};
    std::memcpy(payload, &taken.task.argument, sizeof taken.task.argument);
    execute(*taken.task.type, head, payload);
}

}  // namespace heddle::runtime
