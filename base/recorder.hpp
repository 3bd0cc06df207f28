// The interface to which a run reports events: activities of workers, tasks, messages between nodes. The
// scheduler and the backends call it; the folder results/ has recorders that write traces and tables.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/activity.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle {

/// A message between nodes. `number` distinguishes it from the other messages of `from`.
struct MessageNote {
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
};

/// A task, as its worker begins it.
struct TaskNote {
    static constexpr std::uint64_t no_number = ~std::uint64_t{0};
    static constexpr std::uint32_t root = ~std::uint32_t{0};
    static constexpr std::uint32_t strand = root - 1;
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

    std::uint64_t number = no_number;  ///< in the program's task graph
    Time ready = never;                ///< when it was forked; `never`: not known
    std::uint32_t type = root;         ///< the registered task type (runtime::TaskTypeId), `root` or `strand`
    WorkerId victim{nowhere, nowhere};  ///< the thief's last victim; `core` is `nowhere` on another node
};

/// What a task has declared in all its computations: floating-point operations, bytes to and from memory.
struct TaskWork {
    double flops = 0;
    double bytes = 0;
};

/// Each node's events come from one context after the other in simulation, and natively from several threads
/// at the same time. Events of different nodes may come at the same time. No call throws.
class Recorder {
public:
    virtual ~Recorder() = default;

    /// The first call. `settled()` returns a time within the run; every event before that time has been told.
    /// The recorder may ask until `finish`; the answers do not decrease.
    virtual void begin(NodeId nodes, CoreId cores, std::function<Time()> settled) = 0;

    /// From `time` on a worker does this. At zero all are idle. The times of one worker do not go back.
    virtual void entered(WorkerId worker, Activity activity, Time time) = 0;

    /// The sender module of a node is busy with a message from `begin` to `end`. `end` may lie ahead.
    virtual void sending(const MessageNote& message, Time begin, Time end) = 0;

    /// The receiver module of the message's node begins with it, and is done with it.
    virtual void receiving(const MessageNote& message, Time begin) = 0;
    virtual void delivered(const MessageNote& message, Time end) = 0;

    /// The data of a numbered task are complete on `node`, where it was placed.
    virtual void task_ready(NodeId /*node*/, std::uint64_t /*number*/, Time /*time*/) {}

    /// A worker begins a task, and ends the latest task that it has begun and not ended.
    virtual void task_began(WorkerId /*worker*/, const TaskNote& /*task*/, Time /*time*/) {}
    virtual void task_ended(WorkerId /*worker*/, const TaskWork& /*work*/, Time /*time*/) {}

    /// A worker goes on with a strand, and leaves it. What the worker begins and ends in between are the
    /// strand's tasks. Those that have not ended then go on when a worker of the node enters the strand
    /// again. A worker in a strand may enter another one, and leaves that one first. `number`: a live
    /// strand's own on its node.
    virtual void strand_entered(WorkerId /*worker*/, std::uint64_t /*number*/, Time /*time*/) {}
    virtual void strand_left(WorkerId /*worker*/, std::uint64_t /*number*/, Time /*time*/) {}

    /// Where node 0 runs in another process: takes the next part of what was told here, as bytes for `absorb`
    /// there. Empty: there is no more. Called when all workers of the node have ended.
    virtual std::vector<std::byte> take_part() { return {}; }

    /// On node 0's process: a part that another node's recorder gave. False if the bytes are malformed.
    virtual bool absorb(NodeId /*from*/, std::span<const std::byte> /*part*/) { return false; }

    /// The run is over: its last task ended at `makespan`. Messages may have been under way for longer.
    virtual void finish(Time makespan) = 0;
};

}  // namespace heddle
