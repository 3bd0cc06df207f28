// FCP, fast critical path: takes the ready task of highest b-level, and compares only two processors. These
// are the first free one, and the one that the task's last message comes from. Radulescu, van Gemund: "On the
// complexity of list scheduling algorithms for distributed-memory systems", ICS 1999. O(v log v + e),
// whatever the number of processors. The paper's processors are equal, and equally far
// from each other. With several on a node all of the node are compared that the last message comes from,
// because the messages within it may not be the last there. On unequal ones, and on nodes that are not
// equally far from each other, all processors are compared. The task goes where it ends first: O((v + e) p).
#include <algorithm>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

class Fcp final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        PartialSchedule partial(problem);
        if (!problem.equal_speeds() || !problem.equal_distances()) {
            for (const TaskIndex task : ready_by_priority(problem, bottom_levels(problem)))
                partial.place_to_end_first(task, false);
            return std::move(partial).finish();
        }
        const bool one_node = problem.node(problem.processors() - 1) == 0;
        for (const TaskIndex task : ready_by_priority(problem, bottom_levels(problem))) {
            ProcessorIndex best = partial.first_free();
            const auto start_on = [&](ProcessorIndex i) {
                return std::max(partial.arrival(task, i), partial.free_from(i));
            };
            double start = start_on(best), last_arrival = -1;
            ProcessorIndex enabling = best;
            for (const TaskGraph::Link& link : problem.graph().predecessors(task)) {
                const double delay = one_node ? 0 : problem.far_delay(link.bytes);
                const double arrival = partial.slot(link.task).finish + delay;
                if (arrival > last_arrival) {
                    last_arrival = arrival;
                    enabling = partial.slot(link.task).processor;
                }
            }
            const auto [first, end] = problem.processors_of(problem.node(enabling));
            for (ProcessorIndex i = first; i < std::min(end, partial.choices()); ++i) {
                const double there = start_on(i);
                if (there >= start) continue;
                best = i;
                start = there;
            }
            partial.place(task, best, start);
        }
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_fcp() {
    return std::make_unique<Fcp>();
}

}  // namespace heddle::schedulers
