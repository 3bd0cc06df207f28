// The part of a worker that applies the schedule's rules to its forks. It sends the first forks along the
// tree of workers. If enough tasks wait, it calls a fork as a plain function. If other nodes take half of all
// tasks, it shares them at once.
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/start_tree.hpp"

namespace heddle::runtime {

void Worker::set_rules() {
    const Schedule& schedule = node_.schedule();
    const Topology& topology = node_.topology();
    const Pruning& pruning = schedule.pruning;
    rules_.prunes = pruning.policy != Pruning::Policy::none;
    rules_.counts_node = pruning.policy == Pruning::Policy::node_length;
    rules_.threshold = pruning.threshold;
    const bool donates = schedule.stealing.amount == Stealing::Amount::donation && topology.nodes > 1;
    if (rules_.prunes) {
        deque_.keep_shared(rules_.threshold * (rules_.counts_node ? topology.cores : 1));
    } else if (donates) {
        deque_.keep_shared(deque_.capacity());
    }
    ruled_ = deque_.limit() != 0;
    if (schedule.start == Start::tree && id == WorkerId{0, 0})
        take_share({0, topology.at_start.value_or(topology.nodes), 0, topology.cores});
}

// --- the start

void Worker::take_share(const StartShare& share) {
    rules_.share = share;
    if (!share.spreads()) return;
    ruled_ = true;
    deque_.keep_closed();
}

void Worker::end_share() {
    ruled_ = deque_.limit() != 0;
    if (!ruled_ && gate_open_ && audit_left_ == 0) deque_.allow_open();
}

/// Sends the fork at `head` to the worker that is to have half of this worker's share. False if older tasks
/// wait here: the tasks that are away are always the oldest.
bool Worker::send_fork(Slot* head) {
    head->state.store(Slot::pending, std::memory_order_relaxed);
    if (!deque_.send_off(head)) return false;
    HeldPayload held(*head->type, head->payload);
    charge(costs->fork);
    note_top(head);
    const StartShare other = rules_.share.split();
    held.holds = Holds::nothing;
    StartTree::send(*this, other, *head->type, {id.node, id.core, deque_.index(head)}, head->payload);
    if (!rules_.share.spreads()) end_share();
    return true;
}

// --- every fork

/// Whether the fork at `head` is done with: it was sent, or follows the rules for many forks.
bool Worker::fork_by_rules(Slot* head) {
    const TaskType& type = *head->type;
    if (rules_.share.spreads() && type.travels() && !type.detached() && send_fork(head)) return true;
    if (deque_.limit() == 0) return false;
    note_top(head);
    if (!rules_.prunes || type.detached()) charge(costs->fork);
    if (recorder) [[unlikely]]
        note_fork(head);
    keep_enough_shared(head + 1);
    if (deque_.asked()) serve_request(head + 1);
    return true;
}

// Invariant: with pruning the shared part of a worker's deque is the tasks that wait, and the private part is
// calls that have not begun. Forks come on top of the calls. What thieves have taken is replaced by the
// oldest calls, which in a recursion are the largest. So a call that has not begun may become a task after
// all.
/// Shares what is below `head`, as far as the rules allow.
void Worker::keep_enough_shared(const Slot* head) {
    if (rules_.counts_node && deque_.shared() != 0) {
        std::uint64_t waiting = 0;
        for (CoreId core = 0; core < node_.cores(); ++core) waiting += node_.worker(core).deque().shared();
        if (waiting >= std::uint64_t{rules_.threshold} * node_.cores()) return;
    }
    const std::uint32_t tasks = deque_.publish(head);
    if (tasks != 0) charge(tasks * (rules_.prunes ? costs->fork + costs->fork_shared : costs->fork_shared));
}

/// With pruning: whether the topmost fork, at `slot`, is a plain call. Then it is no more in the deque, and
/// its `units` of work are declared.
bool Worker::calls_now(Slot* slot, std::uint64_t units) {
    constexpr std::uint32_t patience = 32;
    if (!rules_.prunes || slot->type->detached()) return false;
    const std::uint32_t index = deque_.index(slot);
    expect_joined(index + 1);
    if (++rules_.operations % patience == 0) poll();
    keep_enough_shared(slot);
    if (deque_.asked()) serve_request(slot);
    if (index < deque_.split()) return false;
    if (units != 0) work(units);
    top_ = index;
    return true;
}

}  // namespace heddle::runtime
