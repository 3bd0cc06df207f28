// A native run on several nodes has a recorder in each process. Those of the other nodes keep what they are
// told until their workers have ended, and give it to node 0's recorder, in parts. Node 0 then knows which
// receipt belongs to which message.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "results/trace_event.hpp"
#include "runtime/spin_lock.hpp"

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
