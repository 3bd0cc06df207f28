// The part of a worker that runs detached tasks, which no caller waits for. It takes those of its own deque,
// the latest first, and those of the node's shared queue.
#include <utility>

#include "base/relax.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

void Worker::execute(const TaskType& type, Slot* head, std::byte* payload) {
    if (std::exchange(gives_turn_, false) && type.detached() && head == loose_) [[unlikely]]
        return run_function(type, head, payload);  // what it detaches is the loop's that gives the turn
    Slot* const before = std::exchange(loose_, type.detached() ? head : nullptr);
    run_function(type, head, payload);
    constexpr std::uint32_t patience = 32;
    const bool shares = shares_tokens_ && !before;
    for (std::uint32_t tasks = 1; loose_ && (loose_ != head || shares); ++tasks) {
        if (tasks % patience == 0) {
            look_up();
            if (tasks % runs_max == 0) give_turn(head);
        }
        poll();
        // What has a rank goes first.
        if (const auto ranked = ranked_.take_first()) {
            run_taken(*ranked, loose_);
            continue;
        }
        if (loose_ == head) {
            if (!goes_on()) break;
            auto task = node_.shared_tokens().take(*this);
            if (!task) break;
            run_function(*task->type, head, task->payload);
            continue;
        }
        Slot* slot = --loose_;
        if (pop(slot)) run_function(*std::exchange(slot->type, nullptr), slot, slot->payload);
    }
    expect_joined(deque_.index(head));
    loose_ = before;
}

void Worker::share(const TaskType& type, const std::byte* payload) {
    node_.shared_tokens().put(*this, type, {payload, type.arguments_bytes()});
}

/// Whether a token of the shared queue may begin right after the task before, as one piece of work.
bool Worker::goes_on() const {
    return depth_ == 1 && !node_.sources().waits_before(node_.shared_tokens(), *this) && !node_.stopping();
}

/// Now and then, between detached tasks.
void Worker::look_up() {
    if (node_.balances()) {
        if (deque_.shared() == 0) serve_request(loose_);
        node_.balancer().look(*this, deque_.waiting(loose_));
    }
    // What has gathered for other nodes does not wait until there is nothing more to do here.
    outbox_.flush();
}

// Detached tasks that detach others may go on for ever. Invariant: between `runs_max` of them a source of the
// node comes first, each in turn, as in the worker's loop (run_sources). A turn takes no more than one task
// of a source: what that detaches follows in the loop that gave the turn, so turns do not lie one above the
// other. Above a task that waits the loop ends, because that task may go on.
void Worker::give_turn(Slot* head) {
    if (depth_ > 1) return leave_loose(head);
    const Activity before = times.current();
    gives_turn_ = true;
    node_.sources().run_in_turn(++turns_, *this, loose_, false);
    gives_turn_ = false;
    enter_now(before);
}

/// Any worker of the node may run what waits here now. This one gives another source its turn first.
void Worker::leave_loose(Slot* head) {
    while (loose_ != head) {
        Slot* const slot = --loose_;
        if (!pop(slot)) continue;
        discount_task();
        const TaskType& type = *std::exchange(slot->type, nullptr);
        node_.put_ready(*this, type, {slot->payload, type.arguments_bytes()});
    }
    note_stolen(*this, nullptr);
    runs_ = runs_max;
}

/// A thief copies a detached task as soon as it has taken it, and then sets the state.
void Worker::wait_until_copied(Slot* slot) {
    for (Patience patience; slot->state.load(std::memory_order_seq_cst) != Slot::done; patience.wait()) {
    }
}

}  // namespace heddle::runtime
