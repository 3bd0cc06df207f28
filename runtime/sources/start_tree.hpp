// Starts a run along a tree of all its workers (schedule.start: tree): it sends forks to certain workers
// until each has work (Lowenthal, Subramanian: "HyFi", section 3.5). A worker that has a share of the workers
// sends its next fork to the first worker of the share's other half. It gives that half away with it. After
// ceil(log2 nodes) + ceil(log2 cores) forks of each worker on the way, every worker has one.
#pragma once

#include "runtime/core/fork_rules.hpp"
#include "runtime/core/states.hpp"
#include "runtime/sources/inboxes.hpp"
#include "runtime/sources/token.hpp"

namespace heddle::runtime {

/// A fork on its way along the tree.
struct StartTask : Token {
    StartShare share;
};

/// Those that have come to the workers of a node: `node.state<StartTree>()`. No thief gets them.
class StartTree final : public State<Node>, public Inboxes<StartTask> {
public:
    explicit StartTree(Node& node) : Inboxes(node) { node.sources().add(*this); }

    /// Sends a task to the first worker of `share`. Its result is awaited at `home`, on the sender's node.
    static void send(Worker& sender, const StartShare& share, const TaskType& type, Home home,
                     const std::byte* arguments);

    bool run(Worker& worker, Slot* head) override;
};

}  // namespace heddle::runtime
