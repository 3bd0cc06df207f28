// MCP, modified critical path: takes tasks by rising latest start, the time by which a task must start to
// keep the critical path. Ties go by the latest starts of successors. Each task goes where it starts first,
// also in idle intervals. Wu, Gajski: "Hypertool: a programming aid for message-passing systems", IEEE TPDS
// 1(3), 1990; the lists as in Kwok, Ahmad: "Static scheduling algorithms for allocating directed task graphs
// to multiprocessors", ACM CSUR 31(4), 1999. The papers' processors are equal: on unequal ones levels use
// mean times, and each task goes where it ends first.
#include <algorithm>
#include <numeric>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

/// A priority for each task: the earlier in MCP's order the higher.
std::vector<double> priorities(const Problem& problem) {
    // Latest starts are compared as b-levels from the other side: the latest start is the critical path minus
    // it.
    const std::vector<double> level = bottom_levels(problem);
    const TaskGraph& graph = problem.graph();
    std::vector<std::size_t> begin(std::size_t{graph.tasks()} + 1, 0);
    std::vector<double> levels_after;
    levels_after.reserve(graph.edges());
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        for (const TaskGraph::Link& link : graph.successors(task)) levels_after.push_back(level[link.task]);
        begin[task + 1] = levels_after.size();
        std::sort(levels_after.begin() + static_cast<std::ptrdiff_t>(begin[task]), levels_after.end(),
                  std::greater<>());
    }
    std::vector<TaskIndex> order(graph.tasks());
    std::iota(order.begin(), order.end(), TaskIndex{0});
    std::stable_sort(order.begin(), order.end(), [&](TaskIndex a, TaskIndex b) {
        if (level[a] != level[b]) return level[a] > level[b];
        const auto at = [&](std::size_t place) {
            return levels_after.begin() + static_cast<std::ptrdiff_t>(place);
        };
        return std::lexicographical_compare(at(begin[a]), at(begin[a + 1]), at(begin[b]), at(begin[b + 1]),
                                            std::greater<>());
    });
    std::vector<double> priority(graph.tasks());
    for (std::size_t place = 0; place < order.size(); ++place)
        priority[order[place]] = -static_cast<double>(place);
    return priority;
}

class Mcp final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        PartialSchedule partial(problem);
        for (const TaskIndex task : ready_by_priority(problem, priorities(problem))) {
            partial.place_to_end_first(task, true);
        }
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_mcp() {
    return std::make_unique<Mcp>();
}

}  // namespace heddle::schedulers
