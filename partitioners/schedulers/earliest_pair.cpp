// Schedules the earliest pair of task and processor in each step, by a queue with each ready task's best.
#include "partitioners/schedulers/earliest_pair.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

/// Where a task is earliest.
struct Earliest {
    double moment = 0;  ///< its end, or its start
    double start = 0;
    ProcessorIndex processor = 0;
};

}  // namespace

Schedule earliest_pairs(const Problem& problem, const std::vector<double>& level) {
    PartialSchedule partial(problem);
    ReadyCount missing(problem.graph());
    const bool by_start = problem.equal_speeds();
    const auto earliest = [&](TaskIndex task) {
        const std::vector<double>& ready = partial.arrivals(task);
        Earliest best;
        for (ProcessorIndex i = 0; i < partial.choices(); ++i) {
            const double start = std::max(ready[i], partial.free_from(i));
            const double moment = by_start ? start : start + problem.time(task, i);
            if (i == 0 || moment < best.moment) best = {moment, start, i};
        }
        return best;
    };
    // A moment only moves back as processors fill up. So the first task of the queue whose moment, computed
    // again, is still at most that of the next one is the earliest.
    using Entry = std::tuple<double, double, TaskIndex>;  // moment, minus the level, task
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto expect = [&](TaskIndex task) { queue.emplace(earliest(task).moment, -level[task], task); };
    for (const TaskIndex task : missing.entries()) expect(task);
    while (!queue.empty()) {
        const TaskIndex task = std::get<2>(queue.top());
        queue.pop();
        const Earliest best = earliest(task);
        if (const Entry now{best.moment, -level[task], task}; !queue.empty() && now > queue.top()) {
            queue.push(now);
            continue;
        }
        partial.place(task, best.processor, best.start);
        missing.placed(task, expect);
    }
    return std::move(partial).finish();
}

}  // namespace heddle::schedulers
