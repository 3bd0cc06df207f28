// The part of a worker that forks as the schedule says: sends its first forks along the tree of workers,
// calls forks while enough tasks wait, shares tasks at once where other nodes take half of all.
#include "base/relax.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/start_tree.hpp"

namespace heddle::runtime {

void Worker::set_rules() {
    const Schedule& schedule = node_.schedule();
    const Topology& topology = node_.topology();
    const Pruning& pruning = schedule.pruning;
    rules_.may_call = pruning.policy != Pruning::Policy::none;
    rules_.counts_node = pruning.policy == Pruning::Policy::node_length;
    rules_.threshold = pruning.threshold;
    if (rules_.may_call) deque_.allow_calls();
    const bool shares_all = schedule.stealing.amount == Stealing::Amount::donation && topology.nodes > 1;
    if (shares_all) deque_.share_all();
    ruled_ = rules_.may_call || shares_all;
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
    ruled_ = rules_.may_call || deque_.shares_all();
    if (!ruled_ && gate_open_ && audit_left_ == 0) deque_.allow_open();
}

/// Sends the fork at `head` to the worker that is to have half of this worker's share. False if older tasks
/// wait here: the tasks that are away are always the oldest.
bool Worker::send_fork(Slot* head) {
    if (!deque_.send_off(head)) return false;
    charge(costs->fork);
    note_top(head);
    const StartShare other = rules_.share.split();
    const bool here = other.node == id.node;
    head->state.store(here ? taken_by(other.core) : std::uint64_t{Slot::pending}, std::memory_order_relaxed);
    StartTree::send(*this, other, *head->type, {id.node, id.core, deque_.index(head)}, head->payload);
    if (!rules_.share.spreads()) end_share();
    return true;
}

// --- every fork

/// Whether the fork at `head` is done with: it was sent, or called.
bool Worker::fork_by_rules(Slot* head) {
    const TaskType& type = *head->type;
    if (!type.detached()) {
        if (rules_.share.spreads() && type.travels() && send_fork(head)) return true;
        if (rules_.may_call && enough_waits(head)) {
            call_now(head);
            return true;
        }
    }
    if (rules_.may_call) head->state.store(Slot::pending, std::memory_order_relaxed);
    return false;
}

void Worker::pushed_by_rules(const Slot* head) {
    if (deque_.shares_all()) deque_.publish(head + 1);
}

// Slots that were called lie between tasks, and some of them a thief may have passed over, so that they do
// not count as waiting any more. Then there seem to be fewer tasks than there are, and the fork is a task too
// many.
bool Worker::enough_waits(const Slot* head) {
    const std::uint32_t slots = deque_.waiting(head);
    const std::uint32_t tasks = slots - std::min(slots, rules_.called);
    if (!rules_.counts_node) return tasks >= rules_.threshold;
    rules_.waiting.store(tasks, std::memory_order_relaxed);
    std::uint64_t sum = 0;
    for (CoreId core = 0; core < node_.cores(); ++core)
        sum += node_.worker(core).rules_.waiting.load(std::memory_order_relaxed);
    return tasks != 0 && sum >= std::uint64_t{rules_.threshold} * node_.cores();
}

/// Calls the forked function above its slot, which keeps the result until the join. It counts as part of the
/// task that forks it.
void Worker::call_now(Slot* slot) {
    constexpr std::uint32_t patience = 32;
    note_top(slot);
    slot->state.store(Slot::called, std::memory_order_seq_cst);
    ++rules_.called;
    if (++rules_.operations % patience == 0) poll();
    if (deque_.asked()) serve_request(slot);
    slot->type->run()(*this, slot + 1, slot->payload);
    expect_joined(deque_.index(slot) + 1);
}

/// Joins a fork that was called. False: the result is in the slot, as if a thief had run it.
bool Worker::pop_called(Slot* slot) {
    const std::uint32_t index = deque_.index(slot);
    expect_joined(index + 1);
    --rules_.called;
    if (deque_.reclaim(slot) == Deque::Reclaimed::taken) {
        for (Patience patience; slot->state.load(std::memory_order_seq_cst) != Slot::passed;
             patience.wait()) {
        }
        deque_.release(slot);
    }
    top_ = index;
    return false;
}

}  // namespace heddle::runtime
