// The ranked tasks of a node's workers (ranked_queue.hpp) as a work source. A worker runs its own in the
// order of the schedule, and a thief takes the last.
#pragma once

#include "base/ids.hpp"
#include "runtime/sources/ranked_queue.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

class Node;
class Outbox;
struct Context;

/// Counts the queues that have tasks.
class RankedQueues final : public WorkSource {
public:
    explicit RankedQueues(Node& node) : node_(node) {}

    /// Gives a worker of this node a task that is ready, and wakes a worker that may run it. `caller` and its
    /// outbox: a worker of this node, or the receiver.
    void put(Context& caller, Outbox& outbox, CoreId core, const RankedTask& task);

    /// Tasks of `owner` may be stolen from now on: wakes a thief, or sends tasks to nodes that wait.
    void share(Context& caller, Outbox& outbox, const Worker& owner);

    /// The last task of a queue has been taken.
    void emptied() { waiting_.subtract(); }

    bool waits_for(const Worker& worker) const override;
    bool run(Worker& worker, Slot* head) override;
    bool may_steal(Worker& victim) const override;
    bool steal(Worker& thief, Worker& victim, Slot* head) override;
    std::uint32_t givable() const override;
    void give(Gift& gift) override;

private:
    Node& node_;
};

}  // namespace heddle::runtime
