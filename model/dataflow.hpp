// Dataflow: the third execution model (Gautier, Besseron, Pigeon: "KAAPI", PASCO 2007). A program is
// sequential code over shared objects, whose calls are forked:
//
//     void sum(Thread&, shared_r<int> res1, shared_r<int> res2, shared_w<int> res) { res = res1 + res2; }
//
//     void fibonacci(Thread& self, int n, shared_w<int> res) {
//         if (n < 2) {
//             res = n;
//         } else {
//             shared<int> res1(self);
//             shared<int> res2(self);
//             self.fork<fibonacci>(n - 1, res1);
//             self.fork<fibonacci>(n - 2, res2);
//             self.fork<sum>(res1, res2, res);
//         }
//     }
//
// Every object ends with the value that it has if each fork is a call. docs/models/dataflow.md has the rules.
#pragma once

#include "model/dataflow/group.hpp"
#include "model/dataflow/recorded_groups.hpp"
#include "model/dataflow/shared.hpp"
#include "model/dataflow/task.hpp"
#include "model/dataflow/thread.hpp"
#include "model/dataflow/threads.hpp"
#include "runtime/run/program.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

/// A program whose main task runs in a dataflow thread on node 0 (the paper's main thread). The run ends when
/// that thread does: it ends after all that it has forked.
class DataflowProgram : public runtime::Program {
public:
    /// The body of the main task.
    virtual void main(Thread& self) = 0;

    /// Whether the other nodes record the program's groups themselves (Recorded::everywhere), in `elsewhere`.
    virtual bool records_elsewhere() const { return false; }
    /// What another node does then: it declares the same objects, whose values it need not know, and makes
    /// the same groups, with the same placings and runs. A run returns at once there, and no object is read.
    virtual void elsewhere(Thread& /*self*/) {}

    /// Whether it makes groups whose placing names other nodes. Then no node leaves the run
    /// (docs/members.md), because the placing holds for all runs of a group.
    virtual bool places() const { return records_elsewhere(); }
    bool may_leave() const override { return !places(); }

    /// Bounds the memory of bodies that fork without end, unless the schedule does (Schedule::fork_window): a
    /// body that has forked so many closures waits for them before it forks more, as in `sync`. 0: it never
    /// does.
    virtual std::uint64_t window() const { return 0; }

    void set_up(runtime::Node& node) override {
        if (node.schedule().fork_window == 0) node.state<Threads>().limit(window());
    }
    void begin(runtime::Worker& worker) override {
        if (worker.id.core != 0 || (worker.id.node != 0 && !records_elsewhere()))
            return worker.begins_nothing();
        auto& threads = worker.node().state<Threads>();
        if (worker.id.node == 0) {
            threads.start(worker, {"the main thread"}, [this](Thread& thread) { main(thread); });
        } else {
            threads.start(worker, {"a thread that records"}, [this](Thread& thread) {
                elsewhere(thread);
                thread.worker().node().state<RecordedGroups>().ends(thread.worker());
            });
        }
    }
};

}  // namespace heddle::dataflow
