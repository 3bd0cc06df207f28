// When the receiver module of a node sleeps. The rules are those of the native receiver thread
// (runtime/native/reception.cpp). They matter on platforms that state what waking it takes.
#include <algorithm>

#include "sim/machine.hpp"

namespace heddle::sim {

namespace {

/// A worker that came back to rest so soon, so many times, is expected to do so again.
constexpr Time soon = std::chrono::microseconds(100);
constexpr std::uint8_t soon_times = 4, soon_most = 8;

/// For so long after the last rest the receiver thread naps, in the mean.
constexpr Time nap = std::chrono::microseconds(200);

/// So often in so short a time the receiver thread takes a core before it naps, so that a worker that waits
/// between its messages comes to rest.
constexpr std::uint8_t taken_times = 16;
constexpr Time taken_within = taken_times * nap, short_nap = std::chrono::microseconds(50);

}  // namespace

void SimMachine::comes_to_rest(SimNode& node, Time now) {
    const bool is_soon = node.rested != never && now - node.rested < soon;
    node.soon = is_soon ? std::min<std::uint8_t>(node.soon + 1, soon_most) : node.soon / 2;
}

/// All workers are at work, and one will soon rest. Natively the receiver thread naps then, and that worker
/// receives: if the thread woke for each message, it would take the core from it. Here the message is
/// received at once.
bool SimMachine::worker_returns_soon(const SimNode& node, Time now) {
    if (node.idle > 0) return false;
    return now < node.naps_until || (node.soon >= soon_times && now - node.rested < nap);
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

/// What the receiver module takes to wake. If no core is idle, one of them loses time as well: its thread
/// makes room for the module's.
Time SimMachine::waking_receiver(SimNode& node, Time now) {
    if (!receiver_is_asleep(node, now)) return Time::zero();
    take_from_core(node, world_.costs.message_interrupt);
    if (node.idle > 0) {
        node.taken = 0;
    } else {
        if (node.taken == 0) node.taken_since = now;
        if (++node.taken == taken_times) {
            node.taken = 0;
            if (now - node.taken_since <= taken_within) node.naps_until = saturated_sum(now, short_nap);
        }
    }
    return world_.costs.wake_up_asleep;
}

}  // namespace heddle::sim
