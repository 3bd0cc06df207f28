// FLB, fast load balancing: takes the ready task that starts first, as ETF does, but compares only two
// candidates. One runs on the processor that its last message comes from. The other has all its messages and
// goes to the first free processor. Radulescu, van Gemund: "FLB: fast load balancing for distributed-memory
// machines", ICPP 1999. O(v (log v + log p) + e). The paper's processors are equal, and
// equally far from each other. On other ones, such as the cores of several nodes, two candidates are not
// enough: all pairs of task and processor are compared, and the pair that starts first is taken, where speeds
// differ the one that ends first (earliest_pair.hpp).
#include <set>
#include <tuple>

#include "partitioners/schedulers/earliest_pair.hpp"
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

class FastLoadBalancing {
public:
    explicit FastLoadBalancing(const Problem& problem)
        : problem_(problem),
          level_(bottom_levels(problem)),
          partial_(problem),
          missing_(problem.graph()),
          ready_(problem.tasks()) {}

    Schedule run() && {
        enabled_.resize(partial_.choices());
        for (const TaskIndex task : missing_.entries()) add(task);
        for (TaskIndex left = problem_.tasks(); left > 0; --left) {
            const ProcessorIndex first = partial_.first_free();
            const bool here_only = anywhere_.empty();
            const bool enabled_better =
                !active_.empty() &&
                (here_only || active_.begin()->first <
                                  std::max(std::get<0>(*anywhere_.begin()), partial_.free_from(first)));
            const ProcessorIndex processor = enabled_better ? active_.begin()->second : first;
            const Key key = enabled_better ? *enabled_[processor].by_own_arrival.begin() : *anywhere_.begin();
            const TaskIndex task = std::get<2>(key);
            if (enabled_better) {
                change(processor, [&](Enabled& enabled) {
                    enabled.erase(key, ready_[task].last_arrival, level_[task]);
                });
            } else {
                anywhere_.erase(key);
            }
            place(task, processor);
        }
        return std::move(partial_).finish();
    }

private:
    using Key = std::tuple<double, double, TaskIndex>;  ///< moment, minus the b-level, task
    struct Ready {
        double last_arrival = 0;  ///< on a processor far from all predecessors
        double own_arrival = 0;   ///< on the enabling processor
    };
    /// Ready tasks that this processor enables: their last message comes from it.
    struct Enabled {
        std::set<Key> by_own_arrival, by_last_arrival;

        void erase(const Key& key, double last_arrival, double level) {
            by_own_arrival.erase(key);
            by_last_arrival.erase({last_arrival, -level, std::get<2>(key)});
        }
    };

    void add(TaskIndex task) {
        double latest = 0;
        ProcessorIndex enabling = unbounded;
        for (const TaskGraph::Link& link : problem_.graph().predecessors(task)) {
            const Slot& from = partial_.slot(link.task);
            const double far = from.finish + problem_.mean_delay(link.bytes);
            if (enabling == unbounded || far > latest) {
                latest = far;
                enabling = from.processor;
            }
        }
        ready_[task].last_arrival = latest;
        if (enabling == unbounded || latest < partial_.free_from(enabling)) {
            anywhere_.emplace(latest, -level_[task], task);
            return;
        }
        ready_[task].own_arrival = partial_.arrival(task, enabling);
        change(enabling, [&](Enabled& enabled) {
            enabled.by_own_arrival.emplace(ready_[task].own_arrival, -level_[task], task);
            enabled.by_last_arrival.emplace(latest, -level_[task], task);
        });
    }

    void place(TaskIndex task, ProcessorIndex processor) {
        const double start = std::max(partial_.arrival(task, processor), partial_.free_from(processor));
        change(processor, [&](Enabled& enabled) {
            partial_.place(task, processor, start);
            // What arrives everywhere before this processor is free again has nothing to gain from it.
            auto& waiting = enabled.by_last_arrival;
            while (!waiting.empty() && std::get<0>(*waiting.begin()) < partial_.free_from(processor)) {
                const Key key = *waiting.begin();
                const TaskIndex moved = std::get<2>(key);
                enabled.erase({ready_[moved].own_arrival, -level_[moved], moved}, std::get<0>(key),
                              level_[moved]);
                anywhere_.insert(key);
            }
        });
        enabled_.resize(partial_.choices());
        missing_.placed(task, [this](TaskIndex next) { add(next); });
    }

    /// Changes a processor's list or the time at which it's free, and keeps `active_` in step.
    template <class Change>
    void change(ProcessorIndex processor, Change&& what) {
        Enabled& enabled = enabled_[processor];
        const auto first_start = [&] {
            return std::pair(
                std::max(std::get<0>(*enabled.by_own_arrival.begin()), partial_.free_from(processor)),
                processor);
        };
        if (!enabled.by_own_arrival.empty()) active_.erase(first_start());
        what(enabled);
        if (!enabled.by_own_arrival.empty()) active_.insert(first_start());
    }

    const Problem& problem_;
    const std::vector<double> level_;
    PartialSchedule partial_;
    ReadyCount missing_;
    std::vector<Ready> ready_;
    std::vector<Enabled> enabled_;
    std::set<std::pair<double, ProcessorIndex>> active_;  ///< first start of an enabled task, processor
    std::set<Key> anywhere_;                              ///< by last arrival
};

class Flb final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        if (!problem.interchangeable()) return earliest_pairs(problem, bottom_levels(problem));
        return FastLoadBalancing(problem).run();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_flb() {
    return std::make_unique<Flb>();
}

}  // namespace heddle::schedulers
