// Lists of tasks for certain workers of a node: one list for each worker, and only that worker runs its
// tasks. Derived classes decide how tasks come there, and what becomes of their results.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"
#include "runtime/sources/shared_list.hpp"
#include "runtime/sources/work_source.hpp"

namespace heddle::runtime {

/// `Task` has a `next` and a `before`, as SharedList needs them.
template <class Task>
class Inboxes : public WorkSource {
public:
    explicit Inboxes(Node& node) : node_(node), inboxes_(node.cores()) {}

    /// By any context of the node.
    void put(Context& caller, CoreId core, std::unique_ptr<Task> task) {
        waiting_.add();
        inboxes_[core].tasks.put(std::move(task));
        if (core != caller.id.core && node_.worker(core).claim_sleeper())
            caller.backend->unpark(caller, core);
    }

    bool waits_for(const Worker& worker) const override { return inboxes_[worker.id.core].size.get() != 0; }

protected:
    /// Null if there is none for `worker`, which has shown itself active.
    std::unique_ptr<Task> take(const Worker& worker) {
        auto task = inboxes_[worker.id.core].tasks.take();
        if (task) waiting_.subtract();
        return task;
    }

    Node& node_;

private:
    struct Inbox {
        WaitingCount size;
        SharedList<Task> tasks{size};
    };
    std::vector<Inbox> inboxes_;  ///< by core
};

}  // namespace heddle::runtime
