// Builds a task graph in compressed sparse rows; refuses cycles, and weights whose sum is too large.
#include "base/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/depth_first_search.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "base/task_graph_boost.hpp"

namespace heddle {

namespace {

/// Notes tasks as they finish, which is their topological order from the end; and the first cycle it meets.
class OrderAndCycle : public boost::dfs_visitor<> {
public:
    OrderAndCycle(std::vector<TaskIndex>& order, std::vector<TaskIndex>& parent,
                  std::vector<TaskIndex>& cycle)
        : order_(&order), parent_(&parent), cycle_(&cycle) {}

    void tree_edge(const GraphEdge& edge, const TaskGraph&) { (*parent_)[edge.target] = edge.source; }
    void back_edge(const GraphEdge& edge, const TaskGraph&) {
        if (!cycle_->empty()) return;
        for (TaskIndex task = edge.source; task != edge.target; task = (*parent_)[task]) {
            cycle_->push_back(task);
        }
        cycle_->push_back(edge.target);
        std::reverse(cycle_->begin(), cycle_->end());
    }
    void finish_vertex(TaskIndex task, const TaskGraph&) { order_->push_back(task); }

private:
    std::vector<TaskIndex>* order_;
    std::vector<TaskIndex>* parent_;
    std::vector<TaskIndex>* cycle_;
};

std::string cycle_in_words(const TaskGraph& graph, const std::vector<TaskIndex>& cycle) {
    constexpr std::size_t shown = 8;
    std::string words;
    for (std::size_t i = 0; i < std::min(cycle.size(), shown); ++i) words += graph.name(cycle[i]) + " -> ";
    if (cycle.size() > shown) words += fmt::format("({} more) -> ", cycle.size() - shown);
    return words + graph.name(cycle.front());
}

}  // namespace

std::string TaskGraph::name(TaskIndex task) const {
    if (task < names_.size() && !names_[task].empty()) return names_[task];
    return fmt::format("task {}", task);
}

double TaskGraph::total_work() const {
    double sum = 0;
    for (const double flops : flops_) sum += flops;
    return sum;
}

TaskGraph::CriticalPath TaskGraph::critical_path(double flops_per_byte) const {
    constexpr TaskIndex nobody = std::numeric_limits<TaskIndex>::max();
    std::vector<double> end(tasks(), 0);
    std::vector<TaskIndex> before(tasks(), nobody);
    CriticalPath path;
    TaskIndex last = nobody;
    for (const TaskIndex task : order_) {
        double start = 0;
        for (const Link& link : predecessors(task)) {
            const double ready = end[link.task] + link.bytes * flops_per_byte;
            if (ready > start || before[task] == nobody) before[task] = link.task;
            start = std::max(start, ready);
        }
        end[task] = start + flops_[task];
        if (last == nobody || end[task] > path.length) last = task;
        path.length = std::max(path.length, end[task]);
    }
    for (TaskIndex task = last; task != nobody; task = before[task]) path.tasks.push_back(task);
    std::reverse(path.tasks.begin(), path.tasks.end());
    return path;
}

void check_weight_sum(double sum, const char* what) {
    if (sum <= weight_sum_max) return;
    throw Error(fmt::format("{} together is {}, beyond the range of numbers", what, sum),
                fmt::format("scale the weights down: their sum may be {} at most", weight_sum_max));
}

void TaskGraph::scale_work(double factor) {
    for (double& flops : flops_) flops *= factor;
    check_weight_sum(total_work(), "the work of all tasks");
}

TaskGraph TaskGraph::independent(TaskIndex count, double flops) {
    TaskGraphBuilder builder;
    for (TaskIndex task = 0; task < count; ++task) builder.add_task(flops);
    return builder.build();
}

TaskIndex TaskGraphBuilder::add_task(double flops, std::string name, const Location& where) {
    if (!(flops >= 0 && std::isfinite(flops))) {
        throw Error(fmt::format("{} has a work of {} flops", name.empty() ? "a task" : name, flops),
                    "the work of a task is a number, 0 or more", where);
    }
    const TaskIndex task = graph_.tasks();
    if (task == std::numeric_limits<TaskIndex>::max()) {
        throw Error("too many tasks", "a graph holds 4294967295 tasks", where);
    }
    graph_.flops_.push_back(flops);
    if (!name.empty()) {
        graph_.names_.resize(graph_.flops_.size());
        graph_.names_.back() = std::move(name);
    }
    return task;
}

void TaskGraphBuilder::add_edge(TaskIndex from, TaskIndex to, double bytes, const Location& where) {
    if (!(bytes >= 0 && std::isfinite(bytes))) {
        throw Error(
            fmt::format("the edge from {} to {} carries {} bytes", graph_.name(from), graph_.name(to), bytes),
            "an edge carries a number of bytes, 0 or more", where);
    }
    if (files_.empty() || files_.back() != where.file) files_.push_back(where.file);
    edges_.push_back({from, to, bytes, where.line, static_cast<std::uint32_t>(files_.size() - 1)});
}

TaskGraph TaskGraphBuilder::build() {
    TaskGraph graph = std::exchange(graph_, {});
    const std::vector<Edge> edges = std::exchange(edges_, {});
    const std::vector<std::string> files = std::exchange(files_, {});
    const auto where = [&files](const Edge& edge) { return Location{files[edge.file], edge.line}; };
    const TaskIndex tasks = graph.tasks();
    graph.successors_begin_.assign(std::size_t{tasks} + 1, 0);
    graph.predecessors_begin_ = graph.successors_begin_;
    for (const Edge& edge : edges) {
        if (edge.from >= tasks || edge.to >= tasks) {
            throw Error(fmt::format("the edge from {} to {} leads to a task that does not exist",
                                    graph.name(edge.from), graph.name(edge.to)),
                        fmt::format("the graph has {} tasks, counted from 0", tasks), where(edge));
        }
        ++graph.successors_begin_[edge.from + 1];
        ++graph.predecessors_begin_[edge.to + 1];
    }
    for (std::size_t task = 0; task < tasks; ++task) {
        graph.successors_begin_[task + 1] += graph.successors_begin_[task];
        graph.predecessors_begin_[task + 1] += graph.predecessors_begin_[task];
    }
    graph.successors_.resize(edges.size());
    graph.predecessors_.resize(edges.size());
    std::vector<std::size_t> next_successor = graph.successors_begin_;
    std::vector<std::size_t> next_predecessor = graph.predecessors_begin_;
    for (const Edge& edge : edges) {
        graph.successors_[next_successor[edge.from]++] = {edge.to, edge.bytes};
        graph.predecessors_[next_predecessor[edge.to]++] = {edge.from, edge.bytes};
    }

    check_weight_sum(graph.total_work(), "the work of all tasks");
    double bytes = 0;
    for (const Edge& edge : edges) bytes += edge.bytes;
    check_weight_sum(bytes, "the weight of all edges");

    std::vector<TaskIndex> cycle;
    std::vector<TaskIndex> parent(tasks);
    graph.order_.reserve(tasks);
    boost::depth_first_search(graph, boost::visitor(OrderAndCycle(graph.order_, parent, cycle)));
    if (!cycle.empty()) {
        const auto closing = std::find_if(edges.begin(), edges.end(), [&cycle](const Edge& edge) {
            return edge.from == cycle.back() && edge.to == cycle.front();
        });
        throw Error("tasks wait for each other in a circle: " + cycle_in_words(graph, cycle),
                    "a task graph has no cycles; remove one of these edges",
                    closing == edges.end() ? Location{} : where(*closing));
    }
    std::reverse(graph.order_.begin(), graph.order_.end());
    return graph;
}

}  // namespace heddle
