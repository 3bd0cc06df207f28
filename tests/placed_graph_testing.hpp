// For tests: a program that runs a placed graph. It records for each task when and where it ran, and whether
// all its data had come.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "model/placed_graph.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::testing_placed {

/// What happened to one task.
struct Ran {
    std::uint32_t times = 0;
    bool data_right = true;
    WorkerId worker;
    Time end{};
};

/// Filled by the programs of all nodes of this process; one writer a task.
using Diary = std::vector<Ran>;

class DiaryProgram final : public model::PlacedGraphProgram {
public:
    DiaryProgram(const model::PlacedGraph& plan, NodeId node, Diary& diary)
        : PlacedGraphProgram(plan, node), diary_(diary) {}

    runtime::Answer answer() const override { return {}; }

protected:
    /// A task hands on its number; what comes in must be the predecessors' numbers, in their order.
    model::Datum run(model::Strand strand, TaskIndex task, const model::Inputs& inputs) override {
        Ran& ran = diary_[task];
        const auto before = plan().graph().predecessors(task);
        ran.data_right = inputs.size() == before.size();
        for (std::size_t i = 0; i < inputs.size() && ran.data_right; ++i) {
            TaskIndex number = ~TaskIndex{0};
            if (inputs[i].datum && inputs[i].datum->size() == sizeof number)
                std::memcpy(&number, inputs[i].datum->data(), sizeof number);
            ran.data_right = number == before[i].task;
        }
        runtime::Worker& worker = strand.worker();
        worker.compute({plan().graph().flops(task), 0}, {});
        ++ran.times;
        ran.worker = worker.id;
        ran.end = worker.backend->now(worker);
        auto datum = std::make_shared<runtime::Bytes>(sizeof task);
        std::memcpy(datum->data(), &task, sizeof task);
        return datum;
    }

private:
    Diary& diary_;
};

}  // namespace heddle::testing_placed
