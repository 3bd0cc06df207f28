// Fills the tables of times and delays. Every entry is what the problem itself says, to the bit.
#include "partitioners/schedulers/costs.hpp"

#include <map>
#include <utility>

namespace heddle::schedulers {

namespace {

constexpr std::size_t entries_max = std::size_t{1} << 21;
constexpr ProcessorIndex processors_max = 128;

}  // namespace

Costs::Costs(const Problem& problem, ProcessorIndex processors) : problem_(problem), processors_(processors) {
    const TaskGraph& graph = problem.graph();
    const std::size_t tasks = graph.tasks(), edges = graph.edges();
    if (!problem.equal_speeds()) times_of_a_task_ = processors;
    if (tasks * times_of_a_task_ <= entries_max) {
        for (TaskIndex task = 0; task < tasks; ++task)
            for (ProcessorIndex p = 0; p < times_of_a_task_; ++p) times_.push_back(problem.time(task, p));
    }
    if (tasks == 0 || edges == 0 || processors < 2) return;
    const std::vector<Pair> examples = find_kinds();
    kinds_ = examples.size();
    if (kinds_ == 0 || edges * kinds_ > entries_max) return;
    ins_.reserve(edges * kinds_);
    outs_.reserve(edges * kinds_);
    // A task's links lie behind those of the task before it.
    first_in_ = graph.predecessors(0).data();
    first_out_ = graph.successors(0).data();
    for (TaskIndex task = 0; task < tasks; ++task) {
        for (const TaskGraph::Link& link : graph.predecessors(task))
            for (const Pair& pair : examples) ins_.push_back(problem.delay(link.bytes, pair.from, pair.to));
        for (const TaskGraph::Link& link : graph.successors(task))
            for (const Pair& pair : examples) outs_.push_back(problem.delay(link.bytes, pair.from, pair.to));
    }
}

/// A pair of processors of each kind; none where there would be too many pairs to tell apart.
std::vector<Costs::Pair> Costs::find_kinds() {
    std::vector<Pair> examples{{0, 0}};
    if (problem_.interchangeable()) {
        examples.push_back({0, 1});
        return examples;
    }
    if (processors_ > processors_max) {
        if (!problem_.equal_distances()) return {};
        const ProcessorIndex next_node = problem_.processors_of(0).second;
        examples.push_back({0, 1});
        if (next_node < processors_) examples.push_back({0, next_node});
        return examples;
    }
    const auto& routes = problem_.machine().routes;
    std::map<std::pair<Time, double>, std::uint16_t> of_route;
    std::uint16_t within_node = 0, between_nodes = 0;
    kind_of_pair_.resize(std::size_t{processors_} * processors_);
    for (ProcessorIndex from = 0; from < processors_; ++from) {
        for (ProcessorIndex to = 0; to < processors_; ++to) {
            if (from == to) continue;
            std::uint16_t* kind = &between_nodes;
            if (problem_.node(from) == problem_.node(to)) {
                kind = &within_node;
            } else if (routes) {
                const RouteTable::Route& route = routes->between(problem_.node(from), problem_.node(to));
                kind = &of_route[{route.latency, route.bandwidth}];
            }
            if (*kind == 0) {
                *kind = static_cast<std::uint16_t>(examples.size());
                examples.push_back({from, to});
            }
            kind_of_pair_[std::size_t{from} * processors_ + to] = *kind;
        }
    }
    return examples;
}

}  // namespace heddle::schedulers
