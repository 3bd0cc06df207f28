// DLS, dynamic level scheduling: of all pairs of a ready task and a processor, it takes the one of highest
// dynamic level. That is the task's static level less its earliest start, with a bonus for fast processors.
// Sih, Lee: "A compile-time scheduling heuristic for interconnection-constrained heterogeneous processor
// architectures", IEEE TPDS 4(2), 1993, sections III and IV.
#include <queue>
#include <tuple>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

/// A task's best processor and its dynamic level there.
struct Pair {
    double level = 0;
    ProcessorIndex processor = 0;
    double start = 0;
};

class Dls final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        const std::vector<double> level = static_levels(problem);
        PartialSchedule partial(problem);
        ReadyCount missing(problem.graph());
        const auto best_pair = [&](TaskIndex task) {
            const std::vector<double>& ready = partial.arrivals(task);
            Pair best;
            for (ProcessorIndex i = 0; i < partial.choices(); ++i) {
                const double start = std::max(ready[i], partial.free_from(i));
                const double faster = problem.mean_time(task) - problem.time(task, i);
                const double dynamic = level[task] - start + faster;
                if (i == 0 || dynamic > best.level) best = {dynamic, i, start};
            }
            return best;
        };
        // A level only falls, as processors fill up. So the first task of the queue whose level, computed
        // afresh, is still at least that of the next is the best.
        using Entry = std::tuple<double, TaskIndex>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        for (const TaskIndex task : missing.entries()) queue.emplace(-best_pair(task).level, task);
        while (!queue.empty()) {
            const TaskIndex task = std::get<1>(queue.top());
            queue.pop();
            const Pair best = best_pair(task);
            if (const Entry now{-best.level, task}; !queue.empty() && now > queue.top()) {
                queue.push(now);
                continue;
            }
            partial.place(task, best.processor, best.start);
            missing.placed(task, [&](TaskIndex next) { queue.emplace(-best_pair(next).level, next); });
        }
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_dls() {
    return std::make_unique<Dls>();
}

}  // namespace heddle::schedulers
