// DPS, decisive path scheduling: takes the tasks of the critical path in order. Before each, it takes the
// predecessors still missing, first the one on the longest path, and their missing predecessors before them.
// A task runs where it ends first. Park, Shirazi, Marquis, Choi: "Decisive path scheduling: a new list
// scheduling method", ICPP 1997.
#include <algorithm>
#include <utility>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

class DecisiveOrder {
public:
    explicit DecisiveOrder(const Problem& problem)
        : problem_(problem), top_(top_levels(problem)), listed_(problem.tasks(), false) {}

    std::vector<TaskIndex> make() {
        // Paths that end latest come first: the critical one, then what it has not drawn in.
        const std::vector<double> bottom = bottom_levels(problem_);
        std::vector<std::pair<double, TaskIndex>> ends;
        for (TaskIndex task = 0; task < problem_.tasks(); ++task) {
            if (problem_.graph().successors(task).empty())
                ends.emplace_back(-(top_[task] + bottom[task]), task);
        }
        std::sort(ends.begin(), ends.end());
        for (const auto& [length, task] : ends) list_with_predecessors(task);
        return std::move(order_);
    }

private:
    /// Predecessors in the order of their longest paths to the task. With a stack of its own: graphs are
    /// deep.
    void list_with_predecessors(TaskIndex last) {
        std::vector<TaskIndex> open = {last};
        while (!open.empty()) {
            const TaskIndex task = open.back();
            TaskIndex next = task;
            double longest = -1;
            for (const TaskGraph::Link& link : problem_.graph().predecessors(task)) {
                if (listed_[link.task]) continue;
                const double path =
                    top_[link.task] + problem_.mean_time(link.task) + problem_.mean_delay(link.bytes);
                if (path > longest) {
                    longest = path;
                    next = link.task;
                }
            }
            if (next != task) {
                open.push_back(next);
                continue;
            }
            open.pop_back();
            if (!listed_[task]) order_.push_back(task);
            listed_[task] = true;
        }
    }

    const Problem& problem_;
    std::vector<double> top_;
    std::vector<bool> listed_;
    std::vector<TaskIndex> order_;
};

class Dps final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        PartialSchedule partial(problem);
        for (const TaskIndex task : DecisiveOrder(problem).make()) partial.place_to_end_first(task, true);
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_dps() {
    return std::make_unique<Dps>();
}

}  // namespace heddle::schedulers
