// When the receiver module of a node sleeps. The rules are those of the native receiver thread
// (base/receiver_naps.hpp, runtime/native/reception.cpp). They matter on platforms that state what waking it
// takes.
#include <algorithm>

#include "base/receiver_naps.hpp"
#include "sim/machine.hpp"

namespace heddle::sim {

using runtime::Context;
namespace naps = receiver_naps;

/// It then sees what the receiver module has left to it.
void SimMachine::comes_to_rest(SimNode& node, Time now) {
    node.soon = naps::counted(node.soon, node.rested != never && now - node.rested < naps::without_core.soon);
    if (node.looks_at == never || node.looks_at <= now) return;
    node.looks_at = now;
    push(now, EventKind::nap, node.id, &node);
}

/// A worker looks in passing (Topology::polled_in_passing).
void SimMachine::passes(SimWorker& worker) {
    Context& context = *worker.context;
    comes_to_rest(*worker.node, context.clock);
    worker.node->rested = context.clock;
    context.horizon = std::min(context.horizon, events_.next_time());
}

/// All workers are at work, and one will soon rest or pass. Natively the receiver thread naps then, and that
/// worker receives: if the thread woke for each message, it would take the core from it. A time before `now`:
/// it does not.
Time SimMachine::naps_until(const SimNode& node, Time now) {
    if (node.idle > 0) return Time::zero();
    const bool soon = node.soon >= naps::soon_times && now - node.rested < naps::short_most;
    return std::max(node.naps_until, soon ? saturated_sum(node.rested, naps::short_most) : Time::zero());
}

/// The message waits for that worker, or for the end of the nap. False: it does not.
bool SimMachine::leave_to_worker(SimNode& node, Time now) {
    if (!worker_returns_soon(node, now)) return false;
    node.looks_at = naps_until(node, now);
    push(node.looks_at, EventKind::nap, node.id, &node);
    return true;
}

void SimMachine::look_after_nap(SimNode& node, Time now) {
    if (node.looks_at != now) return;  // it has looked already
    node.looks_at = never;
    const bool no_worker_came = node.idle == 0 && node.rested != now;
    if (no_worker_came) take_from_core(node, world_.costs.message_interrupt);
    Time& free = node.receiver->context->clock;
    free = std::max(free, now);
    receive_next(node, now);
}

/// If all workers of the node are at work, the receiver module sleeps as soon as it has no message. While one
/// rests, the module or that worker looks for another one before. A worker that rested a moment ago, and does
/// no declared work, will soon do so again.
bool SimMachine::receiver_is_asleep(const SimNode& node, Time now) const {
    const Time rested = now - node.receiver->context->clock;
    if (rested <= Time::zero() || worker_returns_soon(node, now)) return false;
    if (node.computing == node.cores()) return true;
    if (node.idle > 0 && rested < world_.receiver_looks) return false;
    if (node.rested != never && now - node.rested < world_.receiver_looks) return false;
    return std::ranges::none_of(node.workers, [&](const SimWorker& worker) {
        return worker.parked && now - worker.context->clock < world_.looks;
    });
}

/// What the receiver module, which sleeps, takes to wake. If no core is idle, one of them loses time as well:
/// its thread makes room for the module's.
Time SimMachine::wake_receiver(SimNode& node, Time now) {
    take_from_core(node, world_.costs.message_interrupt);
    if (node.idle > 0) {
        node.taken = 0;
    } else {
        if (node.taken == 0) node.taken_since = now;
        if (++node.taken == naps::taken_times) {
            node.taken = 0;
            if (now - node.taken_since <= naps::taken_within)
                node.naps_until = saturated_sum(now, naps::without_core.shortest);
        }
    }
    return world_.costs.wake_up_asleep;
}

}  // namespace heddle::sim
