// Measures a placement of tasks: the tasks of a worker, the imbalance of work, the bytes between nodes.
#include "base/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"

namespace heddle {

Placement::Placement(WorkerGrid grid, std::vector<WorkerId> of_task)
    : grid_(grid), of_task_(std::move(of_task)) {
    for (std::size_t task = 0; task < of_task_.size(); ++task) {
        const auto [node, core] = of_task_[task];
        if (node >= grid_.nodes || core >= grid_.cores) {
            throw Error(fmt::format("task {} is placed on node {}, core {}", task, node, core),
                        fmt::format("there are {} nodes with {} cores each, counted from 0", grid_.nodes,
                                    grid_.cores));
        }
    }
}

std::vector<TaskIndex> Placement::tasks_of(WorkerId worker) const {
    std::vector<TaskIndex> result;
    for (TaskIndex task = 0; task < tasks(); ++task) {
        if (of_task_[task] == worker) result.push_back(task);
    }
    return result;
}

double Placement::imbalance(const TaskGraph& graph) const {
    HEDDLE_ASSERT(graph.tasks() == tasks());
    std::vector<double> work(grid_.workers(), 0);
    for (TaskIndex task = 0; task < tasks(); ++task) {
        const auto [node, core] = of_task_[task];
        work[std::size_t{node} * grid_.cores + core] += graph.flops(task);
    }
    const double total = graph.total_work();
    HEDDLE_ASSERT(total > 0);
    return *std::max_element(work.begin(), work.end()) * static_cast<double>(work.size()) / total;
}

double Placement::bytes_between_nodes(const TaskGraph& graph) const {
    HEDDLE_ASSERT(graph.tasks() == tasks());
    double bytes = 0;
    for (TaskIndex task = 0; task < tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task)) {
            if (of_task_[task].node != of_task_[link.task].node) bytes += link.bytes;
        }
    }
    return bytes;
}

}  // namespace heddle
