// When the receiver module of a node sleeps. The rules are those of the native receiver thread
// (base/receiver_naps.hpp, runtime/native/reception.cpp). They matter on platforms that state what waking it
// takes.
#include <algorithm>

#include "base/receiver_naps.hpp"
#include "sim/machine.hpp"

namespace heddle::sim {

namespace naps = receiver_naps;

void SimMachine::comes_to_rest(SimNode& node, Time now) {
    node.soon = naps::counted(node.soon, node.rested != never && now - node.rested < naps::without_core.soon);
}

/// A worker looks in passing (Topology::polled_in_passing). What has come it has received already.
void SimMachine::passes(SimWorker& worker) {
    SimNode& node = *worker.node;
    comes_to_rest(node, worker.context->clock);
    node.rested = worker.context->clock;
}

/// All workers are at work, and one will soon rest. Natively the receiver thread naps then, and that worker
/// receives: if the thread woke for each message, it would take the core from it. Here the message is
/// received at once.
bool SimMachine::worker_returns_soon(const SimNode& node, Time now) {
    if (node.idle > 0) return false;
    return now < node.naps_until || (node.soon >= naps::soon_times && now - node.rested < naps::short_most);
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
