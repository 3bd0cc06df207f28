// Runs all tasks on one processor, the fastest for the whole graph: the baseline of every speedup.
#include <limits>

#include "partitioners/schedulers/members.hpp"

namespace heddle::schedulers {

namespace {

class Serial final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        ProcessorIndex best = 0;
        double least = std::numeric_limits<double>::infinity();
        const ProcessorIndex kinds = problem.equal_speeds() ? 1 : problem.processors();
        for (ProcessorIndex processor = 0; processor < kinds; ++processor) {
            double sum = 0;
            for (TaskIndex task = 0; task < problem.tasks(); ++task) sum += problem.time(task, processor);
            if (sum < least) {
                least = sum;
                best = processor;
            }
        }
        const std::vector<ProcessorIndex> everywhere(problem.tasks(), best);
        return run_in_sequence(problem, everywhere, problem.graph().topological_order());
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_serial() {
    return std::make_unique<Serial>();
}

}  // namespace heddle::schedulers
