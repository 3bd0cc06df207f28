// Computes each kind of a task's level (longest path to start or end) in one pass over the graph.
#include "partitioners/schedulers/levels.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace heddle::schedulers {

namespace {

std::vector<double> levels_to_end(const Problem& problem, bool messages) {
    const TaskGraph& graph = problem.graph();
    std::vector<double> level(graph.tasks(), 0);
    for (auto task = graph.topological_order().rbegin(); task != graph.topological_order().rend(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(*task)) {
            const double delay = messages ? problem.mean_delay(link.bytes) : 0;
            level[*task] = std::max(level[*task], delay + level[link.task]);
        }
        level[*task] += problem.mean_time(*task);
    }
    return level;
}

}  // namespace

std::vector<double> bottom_levels(const Problem& problem) {
    return levels_to_end(problem, true);
}

std::vector<double> static_levels(const Problem& problem) {
    return levels_to_end(problem, false);
}

std::vector<double> top_levels(const Problem& problem) {
    const TaskGraph& graph = problem.graph();
    std::vector<double> level(graph.tasks(), 0);
    for (const TaskIndex task : graph.topological_order()) {
        const double end = level[task] + problem.mean_time(task);
        for (const TaskGraph::Link& link : graph.successors(task)) {
            level[link.task] = std::max(level[link.task], end + problem.mean_delay(link.bytes));
        }
    }
    return level;
}

std::vector<TaskIndex> by_priority(const Problem& problem, const std::vector<double>& priority) {
    // Sorted with their keys beside them: large graphs do not fit into a cache.
    std::vector<std::pair<double, TaskIndex>> keys;
    keys.reserve(problem.tasks());
    for (const TaskIndex task : problem.graph().topological_order()) keys.emplace_back(priority[task], task);
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<TaskIndex> order;
    order.reserve(keys.size());
    for (const auto& [level, task] : keys) order.push_back(task);
    return order;
}

std::vector<TaskIndex> ready_by_priority(const Problem& problem, const std::vector<double>& priority) {
    const TaskGraph& graph = problem.graph();
    using Entry = std::pair<double, TaskIndex>;  // smallest first: minus the priority, then the number
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    std::vector<std::size_t> missing(graph.tasks());
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        missing[task] = graph.predecessors(task).size();
        if (missing[task] == 0) ready.emplace(-priority[task], task);
    }
    std::vector<TaskIndex> order;
    order.reserve(graph.tasks());
    while (!ready.empty()) {
        const TaskIndex task = ready.top().second;
        ready.pop();
        order.push_back(task);
        for (const TaskGraph::Link& link : graph.successors(task)) {
            if (--missing[link.task] == 0) ready.emplace(-priority[link.task], link.task);
        }
    }
    return order;
}

}  // namespace heddle::schedulers
