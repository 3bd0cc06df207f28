// Recorders for a native run on several nodes, which has one in each process. Every process but node 0's
// stores its events until its workers have ended, then sends them to node 0. Node 0 matches each receipt with
// its message.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "results/trace_event.hpp"
#include "runtime/core/spin_lock.hpp"

namespace heddle::results {

/// The recorder of a process other than node 0's.
class PartRecorder final : public EventRecorder {
public:
    void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) override;
    std::vector<std::byte> take_part() override;
    void finish(Time /*makespan*/) override {}

protected:
    void add(TraceEvent event) override;

private:
    runtime::SpinLock lock_;
    std::deque<TraceEvent> events_;
    /// The first part was taken. Later events are not kept: each part is a message, whose events would fill
    /// another part.
    bool giving_ = false;
};

/// Numbers the messages of a native run, whose notes hold in place of a number the bytes that both ends see.
/// Of the messages of equal size from one node to another, the k-th receipt is taken as that of the k-th
/// message: at least k were sent before it, so no message arrives before it was sent. Removes messages of
/// which one end was not recorded: those that end the run. `events` are in the order of time.
void match_messages(std::vector<TraceEvent>& events);

}  // namespace heddle::results
