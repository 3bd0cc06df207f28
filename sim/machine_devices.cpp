// Simulates what the workers of a machine share: its disk, its memory bus, and the cores that a polling
// receiver leaves to them.
#include <algorithm>
#include <utility>

#include "sim/machine.hpp"

namespace heddle::sim {

// --- the disk
// ---------------------------------------------------------------------------------------------------

void SimMachine::io(runtime::Context& caller, double bytes,
                    std::function<void(runtime::Context& context)> done) {
    if (lane_.switchboard.abandoning()) return;
    SimNode& of_caller = node(caller.id.node);
    const Time cost = checked_sum(settings_.disk.latency, from_seconds(bytes / settings_.disk.bandwidth));
    disk_free_ = of_caller.pace.after(std::max(disk_free_, caller.clock), cost);
    disk_calls_.push_back({&of_caller, std::move(done)});
    push(disk_free_, EventKind::disk, settings_.first, nullptr);
    hold_back(caller, disk_free_);
}

void SimMachine::disk_served(Time now) {
    const DiskCall call = std::move(disk_calls_.front());
    disk_calls_.pop_front();
    SimWorker& receiver = *call.node->receiver;
    runtime::Context context;
    context.backend = receiver.context->backend;
    context.id = receiver.context->id;
    context.backend_part = &receiver;
    context.clock = now;
    call.done(context);
}

// --- memory
// ---------------------------------------------------------------------------------------------------

void SimMachine::begin_stream(SimWorker& worker, double bytes) {
    memory_.begin(worker.node->pace.running(worker.context->clock), bytes, &worker);
    begin_memory_round();
}

/// A stream that begins or ends changes the time at which the next stream ends.
void SimMachine::begin_memory_round() {
    ++memory_round_;
    if (memory_.idle()) return;
    Event next =
        event(nodes_.front().pace.at(memory_.next_end()), EventKind::memory, settings_.first, nullptr);
    next.number = memory_round_;
    events_.push(next);
}

void SimMachine::memory_served(const Event& event) {
    if (event.number != memory_round_) return;
    memory_.end(nodes_.front().pace.running(event.time), served_);
    for (void* stream : served_) served_part(*static_cast<SimWorker*>(stream), event.time);
    served_.clear();
    begin_memory_round();
}

/// A worker goes on when all parts of its work are done.
void SimMachine::served_part(SimWorker& worker, Time now) {
    if (--worker.parts_left == 0) push_resume(worker, std::max(now, worker.flops_end));
}

// --- cores that a polling receiver leaves
// -----------------------------------------------------------------------------------------

// A receiver that looks for messages all the time keeps a core. The workers that compute share the other
// cores equally, and none gets more than a core: k workers on c cores are min(1, (c - 1) / k) times as fast.
// A receiver that has one core with the only worker takes half of it.

void SimMachine::begin_cores_round(SimNode& node) {
    ++node.cores_round;
    if (node.cores_left.idle()) return;
    Event next = event(node.pace.at(node.cores_left.next_end()), EventKind::cores, node.id, nullptr);
    next.number = node.cores_round;
    events_.push(next);
}

void SimMachine::cores_served(const Event& event) {
    SimNode& of_event = node(event.source());
    if (event.number != of_event.cores_round) return;
    of_event.cores_left.end(of_event.pace.running(event.time), served_);
    for (void* stream : served_) served_part(*static_cast<SimWorker*>(stream), event.time);
    served_.clear();
    begin_cores_round(of_event);
}

}  // namespace heddle::sim
