// Plans a placed graph before the run: computes which node sends which datum to which other nodes.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/assert.hpp"
#include "model/placed_graph.hpp"

namespace heddle::model {

PlacedGraph::PlacedGraph(const TaskGraph& graph, Placement placement, std::span<const TaskIndex> sequence,
                         Order order, Data data)
    : graph_(&graph), placement_(std::move(placement)), order_(order), data_(data) {
    HEDDLE_ASSERT(placement_.tasks() == graph.tasks() && sequence.size() == graph.tasks());
    place_tasks(sequence);
    find_deliveries();
}

void PlacedGraph::place_tasks(std::span<const TaskIndex> sequence) {
    const TaskIndex tasks = graph_->tasks();
    const WorkerGrid& grid = placement_.grid();
    rank_.assign(tasks, none);
    for (std::size_t place = 0; place < sequence.size(); ++place)
        rank_[sequence[place]] = static_cast<std::uint32_t>(place);
    for (TaskIndex task = 0; task < tasks; ++task) {
        HEDDLE_ASSERT(rank_[task] != none);
        for (const TaskGraph::Link& link : graph_->successors(task))
            HEDDLE_ASSERT(rank_[task] < rank_[link.task]);
    }

    const auto worker_of = [&](TaskIndex task) {
        const WorkerId worker = placement_.of(task);
        return std::size_t{worker.node} * grid.cores + worker.core;
    };
    of_worker_begin_.assign(grid.workers() + 1, 0);
    for (TaskIndex task = 0; task < tasks; ++task) ++of_worker_begin_[worker_of(task) + 1];
    for (std::size_t worker = 0; worker < grid.workers(); ++worker)
        of_worker_begin_[worker + 1] += of_worker_begin_[worker];
    of_worker_.resize(tasks);
    next_.assign(tasks, none);
    std::vector<std::size_t> end(of_worker_begin_.begin(), of_worker_begin_.end() - 1);
    for (const TaskIndex task : sequence) {
        const std::size_t worker = worker_of(task);
        if (end[worker] != of_worker_begin_[worker]) next_[of_worker_[end[worker] - 1]] = task;
        of_worker_[end[worker]++] = task;
    }

    local_.resize(tasks);
    tasks_on_.assign(grid.nodes, 0);
    for (TaskIndex task = 0; task < tasks; ++task) local_[task] = tasks_on_[placement_.of(task).node]++;
}

void PlacedGraph::find_deliveries() {
    const TaskIndex tasks = graph_->tasks();
    inputs_begin_.assign(std::size_t{tasks} + 1, 0);
    for (TaskIndex task = 0; task < tasks; ++task)
        inputs_begin_[task + 1] = inputs_begin_[task] + graph_->predecessors(task).size();
    inputs_.assign(graph_->edges(), 0);
    consumers_.reserve(graph_->edges());
    deliveries_begin_.assign(std::size_t{tasks} + 1, 0);
    std::vector<std::uint32_t> count(placement_.grid().nodes, 0);  // of deliveries to each node

    // (node, bytes, rank, consumer): the deliveries of a task in the order of nodes, the consumers of each in
    // that in which they will run.
    std::vector<std::tuple<NodeId, std::uint64_t, std::uint32_t, TaskIndex>> edges;
    for (TaskIndex task = 0; task < tasks; ++task) {
        edges.clear();
        for (const TaskGraph::Link& link : graph_->successors(task)) {
            const auto bytes = static_cast<std::uint64_t>(std::llround(link.bytes));
            edges.emplace_back(placement_.of(link.task).node, bytes, rank_[link.task], link.task);
        }
        std::sort(edges.begin(), edges.end());
        for (const auto& [node, bytes, rank, consumer] : edges) {
            const bool same = deliveries_.size() > deliveries_begin_[task] &&
                              deliveries_.back().node == node && deliveries_.back().bytes == bytes;
            if (!same) deliveries_.push_back({node, count[node]++, bytes, consumers_.size(), 0});
            consumers_.push_back(consumer);
            ++deliveries_.back().consumers;
        }
        deliveries_begin_[task + 1] = static_cast<std::uint32_t>(deliveries_.size());
    }

    incoming_begin_.assign(1, 0);
    for (const std::uint32_t deliveries : count)
        incoming_begin_.push_back(incoming_begin_.back() + deliveries);
    incoming_.resize(deliveries_.size());
    for (std::uint32_t i = 0; i < deliveries_.size(); ++i)
        incoming_[incoming_begin_[deliveries_[i].node] + deliveries_[i].local] = i;

    for (TaskIndex task = 0; task < tasks; ++task) {
        std::size_t place = inputs_begin_[task];
        const NodeId node = placement_.of(task).node;
        for (const TaskGraph::Link& link : graph_->predecessors(task)) {
            const auto bytes = static_cast<std::uint64_t>(std::llround(link.bytes));
            const auto first = deliveries_.begin() + deliveries_begin_[link.task];
            const auto last = deliveries_.begin() + deliveries_begin_[link.task + 1];
            const auto found = std::lower_bound(first, last, std::pair(node, bytes),
                                                [](const Delivery& delivery, const auto& wanted) {
                                                    return std::pair(delivery.node, delivery.bytes) < wanted;
                                                });
            HEDDLE_ASSERT(found != last && found->node == node && found->bytes == bytes);
            inputs_[place++] = static_cast<std::uint32_t>(found - deliveries_.begin());
        }
    }
}

std::uint64_t PlacedGraph::bytes_between_nodes() const {
    std::uint64_t bytes = 0;
    for (TaskIndex task = 0; task < graph_->tasks(); ++task) {
        for (std::uint32_t i = deliveries_begin_[task]; i < deliveries_begin_[task + 1]; ++i) {
            if (deliveries_[i].node != placement_.of(task).node) bytes += deliveries_[i].bytes;
        }
    }
    return bytes;
}

}  // namespace heddle::model
