// HEFT, heterogeneous earliest finish time: takes tasks by falling upward rank and places each where it ends
// first, also in idle intervals. Topcuoglu, Hariri, Wu: "Performance-effective and low-complexity task
// scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002, section 4.1.
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

class Heft final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        PartialSchedule partial(problem);
        for (const TaskIndex task : by_priority(problem, bottom_levels(problem))) {
            partial.place_to_end_first(task, true);
        }
        return std::move(partial).finish();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_heft() {
    return std::make_unique<Heft>();
}

}  // namespace heddle::schedulers
