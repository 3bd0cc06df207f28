// Who listens to a run: what its workers do, and the messages between its nodes. Those who tell know nothing
// of what becomes of it; results/ has recorders that write traces.
#pragma once

#include <cstdint>
#include <functional>

#include "base/activity.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle {

/// A message between nodes. `number` tells it from the others that `from` sends.
struct MessageNote {
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
};

/// What is told of one node is told by one context after the other, or by its workers at the same time; what
/// is told of several nodes may be told at the same time. Nothing here throws.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// Before anything else. `settled()`: a time before which everything was told, and which is within the
    /// run. It may be asked at any time until `finish`, and does not go back.
    virtual void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) = 0;

    /// From `time` on a worker does this. At zero all are idle. The times of one worker do not go back.
    virtual void entered(WorkerId worker, Activity activity, Time time) = 0;

    /// The sender module of a node is busy with a message from `begin` to `end`, which may be still to come.
    virtual void sending(const MessageNote& message, Time begin, Time end) = 0;

    /// The receiver module of the message's node begins with it, and is done with it.
    virtual void receiving(const MessageNote& message, Time begin) = 0;
    virtual void delivered(const MessageNote& message, Time end) = 0;

    /// The run is over: its last task ended at `makespan`. Messages may have been under way for longer.
    virtual void finish(Time makespan) = 0;
};

}  // namespace heddle
