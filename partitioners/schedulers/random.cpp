// Puts tasks on processors at random, in a random order that the graph allows: a baseline for the
// heuristics.
#include "base/random.hpp"

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"

namespace heddle::schedulers {

namespace {

class RandomScheduler final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options& options) const override {
        Random random(options.seed);
        std::vector<double> priority;
        std::vector<ProcessorIndex> processor;
        for (TaskIndex task = 0; task < problem.tasks(); ++task) {
            priority.push_back(random.uniform());
            processor.push_back(static_cast<ProcessorIndex>(random.below(problem.processors())));
        }
        return run_in_sequence(problem, processor, ready_by_priority(problem, priority));
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_random() {
    return std::make_unique<RandomScheduler>();
}

}  // namespace heddle::schedulers
