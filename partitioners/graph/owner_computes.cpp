// Places each task on the worker whose part has the datum that the task writes.
#include "partitioners/graph/owner_computes.hpp"

#include <fmt/format.h>

#include "partitioners/graph/quality.hpp"

namespace heddle::partitioners {

Placement owner_computes(const Parts& part, std::span<const DatumIndex> writes, TaskIndex tasks,
                         const WorkerGrid& grid) {
    if (!writes.empty() && writes.size() != tasks) {
        throw Error(fmt::format("{} tasks, but it is known of {} what they write", tasks, writes.size()));
    }
    std::vector<WorkerId> of_task;
    of_task.reserve(tasks);
    for (TaskIndex task = 0; task < tasks; ++task) {
        const DatumIndex datum = writes.empty() ? task : writes[task];
        if (datum >= part.size()) {
            throw Error(fmt::format("task {} writes datum {}, which is in no part", task, datum),
                        fmt::format("there are {} data, counted from 0", part.size()));
        }
        if (part[datum] >= grid.workers()) {
            throw Error(fmt::format("datum {} is in part {}", datum, part[datum]),
                        fmt::format("there are {} workers, counted from 0", grid.workers()));
        }
        of_task.push_back(grid.worker(part[datum]));
    }
    return {grid, std::move(of_task)};
}

Placement place_by_data(const GraphPartitioner& partitioner, const TaskGraph& graph,
                        std::span<const DatumIndex> writes, DatumIndex data, const WorkerGrid& grid,
                        std::span<const double> speeds) {
    const DataGraph data_graph = DataGraph::of_tasks(graph, writes, data);
    const Parts part = partitioner.partition(data_graph, grid, speeds);
    check_parts(data_graph, part, grid.workers());
    return owner_computes(part, writes, graph.tasks(), grid);
}

}  // namespace heddle::partitioners
