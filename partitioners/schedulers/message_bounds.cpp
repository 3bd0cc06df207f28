// Lower bounds on a makespan from forks and joins whose messages between processors take time.
#include <algorithm>
#include <cmath>

#include "partitioners/schedulers/exact.hpp"

namespace heddle::schedulers {

namespace {

/// One neighbour of a task, seen from it: `before` it can be reached at the earliest, takes `time`, and is
/// `after` away from the end that is looked at; `delay`: the message between the two.
struct Neighbour {
    TaskIndex task;
    double delay, time, rest;
};

/// The least time from a task's end to the end of everything behind its successors. Whatever runs elsewhere
/// is over after its message, its time and its rest. If the neighbours with the longest such ways are to do
/// better they run on the task's own processor, one after the other, the one with the longest rest first.
double least_spread(std::vector<Neighbour>& neighbours) {
    std::sort(neighbours.begin(), neighbours.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.task != b.task ? a.task < b.task : a.delay > b.delay;
    });
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end(),
                                 [](const Neighbour& a, const Neighbour& b) { return a.task == b.task; }),
                     neighbours.end());
    std::sort(neighbours.begin(), neighbours.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.delay + a.time + a.rest > b.delay + b.time + b.rest;
    });
    std::vector<std::pair<double, double>> here;  // rest, time; longest rest first
    double least = 0;
    for (std::size_t local = 0;; ++local) {
        double in_turn = 0, end = 0;
        for (const auto& [rest, time] : here) {
            in_turn += time;
            end = std::max(end, in_turn + rest);
        }
        const bool all = local == neighbours.size();
        const double elsewhere =
            all ? 0 : neighbours[local].delay + neighbours[local].time + neighbours[local].rest;
        const double both = std::max(end, elsewhere);
        if (local == 0 || both < least) least = both;
        if (all || end >= elsewhere) return least;
        const std::pair<double, double> next{neighbours[local].rest, neighbours[local].time};
        here.insert(std::upper_bound(here.begin(), here.end(), next, std::greater<>()), next);
    }
}

}  // namespace

MessageBounds message_bounds(const Problem& problem) {
    const TaskGraph& graph = problem.graph();
    MessageBounds bounds;
    bounds.from_start.resize(graph.tasks());
    bounds.to_end.resize(graph.tasks());
    std::vector<Neighbour> neighbours;
    for (const TaskIndex task : graph.topological_order()) {
        neighbours.clear();
        for (const TaskGraph::Link& link : graph.predecessors(task)) {
            neighbours.push_back({link.task, problem.least_delay(link.bytes), problem.least_time(link.task),
                                  bounds.from_start[link.task]});
        }
        bounds.from_start[task] = least_spread(neighbours);
    }
    for (auto task = graph.topological_order().rbegin(); task != graph.topological_order().rend(); ++task) {
        neighbours.clear();
        for (const TaskGraph::Link& link : graph.successors(*task)) {
            const double time = problem.least_time(link.task);
            neighbours.push_back(
                {link.task, problem.least_delay(link.bytes), time, bounds.to_end[link.task] - time});
        }
        bounds.to_end[*task] = problem.least_time(*task) + least_spread(neighbours);
    }
    return bounds;
}

}  // namespace heddle::schedulers
