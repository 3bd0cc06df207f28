// CPOP, critical path on a processor: takes ready tasks by upward plus downward rank. Tasks of one critical
// path go to the processor that runs the path fastest, other tasks where they end first. Topcuoglu, Hariri,
// Wu: "Performance-effective and low-complexity task scheduling for heterogeneous computing", IEEE TPDS
// 13(3), 2002, section 4.2.
#include <limits>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

constexpr TaskIndex nobody = std::numeric_limits<TaskIndex>::max();

/// One path of tasks whose rank is that of the most urgent task without predecessors.
std::vector<TaskIndex> critical_path(const Problem& problem, const std::vector<double>& rank) {
    std::vector<TaskIndex> path;
    TaskIndex next = nobody;
    const ReadyCount missing(problem.graph());
    for (const TaskIndex task : missing.entries()) {
        if (next == nobody || rank[task] > rank[next]) next = task;
    }
    while (next != nobody) {
        path.push_back(next);
        const double as_urgent = rank[path.front()] * (1 - 1e-9);
        next = nobody;
        for (const TaskGraph::Link& link : problem.graph().successors(path.back())) {
            if (rank[link.task] >= as_urgent && (next == nobody || rank[link.task] > rank[next]))
                next = link.task;
        }
    }
    return path;
}

class Cpop final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        std::vector<double> rank = bottom_levels(problem);
        const std::vector<double> down = top_levels(problem);
        for (std::size_t task = 0; task < rank.size(); ++task) rank[task] += down[task];

        const std::vector<TaskIndex> path = critical_path(problem, rank);
        PartialSchedule partial(problem);
        ProcessorIndex for_path = 0;
        double least = std::numeric_limits<double>::infinity();
        for (ProcessorIndex processor = 0; processor < partial.choices(); ++processor) {
            double sum = 0;
            for (const TaskIndex task : path) sum += problem.time(task, processor);
            if (sum < least) {
                least = sum;
                for_path = processor;
            }
        }
        std::vector<bool> on_path(problem.tasks(), false);
        for (const TaskIndex task : path) on_path[task] = true;

        for (const TaskIndex task : ready_by_priority(problem, rank)) {
            if (on_path[task]) {
                const double ready = partial.arrival(task, for_path);
                partial.place(task, for_path,
                              partial.first_gap(for_path, ready, problem.time(task, for_path)));
            } else {
                partial.place_to_end_first(task, true);
            }
        }
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_cpop() {
    return std::make_unique<Cpop>();
}

}  // namespace heddle::schedulers
