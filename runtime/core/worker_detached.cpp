// The part of a worker that runs detached tasks, which no caller waits for. It takes those of its own deque,
// the latest first, and those of the node's shared queue.
#include <utility>

#include "base/relax.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

void Worker::execute(const TaskType& type, Slot* head, std::byte* payload) {
    Slot* const before = std::exchange(loose_, type.detached() ? head : nullptr);
    run_function(type, head, payload);
    constexpr std::uint32_t patience = 32;
    const bool shares = shares_tokens_ && !before;
    for (std::uint32_t tasks = 1; loose_ && (loose_ != head || shares); ++tasks) {
        if (tasks % patience == 0) look_up();
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

/// A thief copies a detached task as soon as it has taken it, and then sets the state.
void Worker::wait_until_copied(Slot* slot) {
    for (Patience patience; slot->state.load(std::memory_order_seq_cst) != Slot::done; patience.wait()) {
    }
}

}  // namespace heddle::runtime
