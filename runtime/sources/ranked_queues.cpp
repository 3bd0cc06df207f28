// Puts ranked tasks into their workers' queues, and takes them out for thieves.
#include "runtime/sources/ranked_queues.hpp"

#include <cstring>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/gift.hpp"

namespace heddle::runtime {

void RankedQueues::put(Context& caller, Outbox& outbox, CoreId core, const RankedTask& task) {
    Worker& owner = node_.worker(core);
    owner.ranked().put(task, waiting_);
    const bool sleepers = !node_.sleeping().empty();
    const bool slept = sleepers && owner.claim_sleeper();
    if (slept) caller.backend->unpark(caller, core);
    // The task may be the only one, and its owner about to run it.
    if (owner.ranked().stealable() == 0) return;
    if (sleepers && !slept && owner.steals_within_node()) node_.wake_one(caller);
    if (node_.steals().anybody_waits()) node_.steals().serve_waiting(outbox);
}

void RankedQueues::share(Context& caller, Outbox& outbox, const Worker& owner) {
    if (owner.steals_within_node()) node_.wake_one(caller);
    if (node_.steals().anybody_waits()) node_.steals().serve_waiting(outbox);
}

bool RankedQueues::waits_for(const Worker& worker) const {
    return worker.ranked().size() != 0;
}

bool RankedQueues::run(Worker& worker, Slot* head) {
    return worker.run_ranked(head);
}

bool RankedQueues::may_steal(Worker& victim) const {
    return victim.ranked().stealable() != 0;
}

bool RankedQueues::steal(Worker& thief, Worker& victim, Slot* head) {
    if (!may_steal(victim)) return false;
    return thief.take_and_run(
        [&] {
            auto taken = victim.ranked().take_last();
            if (taken) thief.count_steal();
            return taken;
        },
        [&](const RankedQueue::Taken& taken) {
            thief.note_stolen(victim, nullptr);
            thief.run_taken(taken, head);
        });
}

std::uint32_t RankedQueues::givable() const {
    std::uint32_t stealable = 0;
    for (CoreId core = 0; core < node_.cores(); ++core) stealable += node_.worker(core).ranked().stealable();
    return stealable;
}

void RankedQueues::give(Gift& gift) {
    gift.from_workers([&](Worker& victim) {
        RankedQueue& queue = victim.ranked();
        if (queue.stealable() == 0) return false;
        gift.leaves();
        const auto taken = queue.take_last();
        if (!taken) return false;
        if (taken->last) emptied();
        std::byte payload[payload_bytes] = {};
        std::memcpy(payload, &taken->task.argument, sizeof taken->task.argument);
        gift.add(*taken->task.type, payload);
        return true;
    });
}

}  // namespace heddle::runtime
