// DCP, dynamic critical path. Each step takes the task with the least slack between earliest and latest
// start. The task goes where it and its most critical successor can start earliest. Start times are fixed
// only at the end. Kwok, Ahmad: "Dynamic critical-path scheduling: an effective technique for allocating task
// graphs to multiprocessors", IEEE TPDS 7(5), 1996. O(v (v + e)) with few processors.
#include <algorithm>
#include <limits>

#include "partitioners/schedulers/members.hpp"

namespace heddle::schedulers {

namespace {

constexpr TaskIndex no_task = std::numeric_limits<TaskIndex>::max();

class DynamicCriticalPath {
public:
    explicit DynamicCriticalPath(const Problem& problem)
        : problem_(problem),
          graph_(problem.graph()),
          where_(graph_.tasks(), unbounded),
          before_(graph_.tasks(), no_task),
          after_(graph_.tasks(), no_task),
          earliest_(graph_.tasks()),
          latest_(graph_.tasks()) {
        run_by_.resize(problem.interchangeable() ? 1 : problem.processors());
    }

    Schedule run() && {
        for (TaskIndex placed = 0; placed < graph_.tasks(); ++placed) {
            levels();
            const TaskIndex task = least_slack();
            mark_related(task);
            insert(task, best_place(task));
        }
        levels();
        return run_in_sequence(problem_, where_, order_);
    }

private:
    struct Place {
        ProcessorIndex processor = 0;
        std::size_t position = 0;  ///< among the tasks that the processor runs
        double start = 0;
        bool fits = false;  ///< without lengthening the schedule
    };

    double time(TaskIndex task) const {
        return where_[task] == unbounded ? problem_.mean_time(task) : problem_.time(task, where_[task]);
    }
    double delay(TaskIndex from, TaskIndex to, double bytes) const {
        if (where_[from] == unbounded || where_[to] == unbounded) return problem_.mean_delay(bytes);
        return problem_.delay(bytes, where_[from], where_[to]);
    }

    /// Earliest and latest starts over the graph's edges and the orders on the processors.
    void levels() {
        std::vector<std::uint32_t> missing(graph_.tasks());
        order_.clear();
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            missing[task] =
                static_cast<std::uint32_t>(graph_.predecessors(task).size()) + (before_[task] != no_task);
            earliest_[task] = 0;
            if (missing[task] == 0) order_.push_back(task);
        }
        double length = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const TaskIndex task = order_[i];
            const double end = earliest_[task] + time(task);
            length = std::max(length, end);
            const auto reach = [&](TaskIndex next, double arrival) {
                earliest_[next] = std::max(earliest_[next], arrival);
                if (--missing[next] == 0) order_.push_back(next);
            };
            for (const TaskGraph::Link& link : graph_.successors(task)) {
                reach(link.task, end + delay(task, link.task, link.bytes));
            }
            if (after_[task] != no_task) reach(after_[task], end);
        }
        for (auto task = order_.rbegin(); task != order_.rend(); ++task) {
            double latest = length;
            for (const TaskGraph::Link& link : graph_.successors(*task)) {
                latest = std::min(latest, latest_[link.task] - delay(*task, link.task, link.bytes));
            }
            if (after_[*task] != no_task) latest = std::min(latest, latest_[after_[*task]]);
            latest_[*task] = latest - time(*task);
        }
        tolerance_ = 1e-9 * length;
    }

    TaskIndex least_slack() const {
        TaskIndex best = no_task;
        double least = 0;
        for (const TaskIndex task : order_) {
            if (where_[task] != unbounded) continue;
            const double slack = latest_[task] - earliest_[task];
            const bool equal = best != no_task && std::abs(slack - least) <= tolerance_;
            if (best == no_task || (equal ? earliest_[task] < earliest_[best] : slack < least)) {
                best = task;
                least = slack;
            }
        }
        return best;
    }

    /// Notes which tasks must run before this one and which after it.
    void mark_related(TaskIndex task) {
        is_before_.assign(graph_.tasks(), false);
        is_after_.assign(graph_.tasks(), false);
        std::vector<TaskIndex> open = {task};
        const auto visit = [&open](std::vector<bool>& seen, TaskIndex next) {
            if (next == no_task || seen[next]) return;
            seen[next] = true;
            open.push_back(next);
        };
        while (!open.empty()) {
            const TaskIndex at = open.back();
            open.pop_back();
            for (const TaskGraph::Link& link : graph_.predecessors(at)) visit(is_before_, link.task);
            visit(is_before_, before_[at]);
        }
        open = {task};
        while (!open.empty()) {
            const TaskIndex at = open.back();
            open.pop_back();
            for (const TaskGraph::Link& link : graph_.successors(at)) visit(is_after_, link.task);
            visit(is_after_, after_[at]);
        }
    }

    Place best_place(TaskIndex task) {
        std::vector<bool> candidate(run_by_.size(), !problem_.interchangeable());
        const auto holds = [&](TaskIndex other) {
            if (where_[other] != unbounded) candidate[where_[other]] = true;
        };
        for (const TaskGraph::Link& link : graph_.predecessors(task)) holds(link.task);
        for (const TaskGraph::Link& link : graph_.successors(task)) holds(link.task);
        // An unused processor, while there are any; then all, because a task that fits nowhere must run
        // somewhere.
        if (run_by_.back().empty()) {
            candidate.back() = true;
        } else {
            candidate.assign(candidate.size(), true);
        }

        const TaskIndex child = critical_child(task);
        Place best;
        double best_sum = std::numeric_limits<double>::infinity();
        bool best_fits = false;
        for (ProcessorIndex i = 0; i < run_by_.size(); ++i) {
            if (!candidate[i]) continue;
            const Place place = place_on(task, i);
            const double sum = place.start + problem_.time(task, i) + child_start(task, child, place);
            const bool better = place.fits != best_fits ? place.fits : sum < best_sum - tolerance_;
            if (better || best_sum == std::numeric_limits<double>::infinity()) {
                best = place;
                best_sum = sum;
                best_fits = place.fits;
            }
        }
        return best;
    }

    double arrival(TaskIndex task, ProcessorIndex processor) const {
        double latest = 0;
        for (const TaskGraph::Link& link : graph_.predecessors(task)) {
            const ProcessorIndex from = where_[link.task];
            const double way = from == unbounded ? problem_.mean_delay(link.bytes)
                                                 : problem_.delay(link.bytes, from, processor);
            latest = std::max(latest, earliest_[link.task] + time(link.task) + way);
        }
        return latest;
    }

    /// The first position on the processor where the task fits before the latest start of the next one;
    /// failing that the one where it starts first. Positions stay behind what must run before and ahead of
    /// what must run after.
    Place place_on(TaskIndex task, ProcessorIndex processor) const {
        const std::vector<TaskIndex>& run = run_by_[processor];
        std::size_t first = 0, last = run.size();
        for (std::size_t i = 0; i < run.size(); ++i) {
            if (is_before_[run[i]]) first = i + 1;
            if (is_after_[run[i]]) last = std::min(last, i);
        }
        const double ready = arrival(task, processor), duration = problem_.time(task, processor);
        Place append;
        for (std::size_t i = first; i <= last; ++i) {
            double start = ready;
            if (i > 0) start = std::max(start, earliest_[run[i - 1]] + time(run[i - 1]));
            const bool fits = i == run.size() || start + duration <= latest_[run[i]] + tolerance_;
            append = {processor, i, start, fits};
            if (fits) return append;
        }
        return append;
    }

    /// The successor with the least slack that has no processor yet.
    TaskIndex critical_child(TaskIndex task) const {
        TaskIndex child = no_task;
        for (const TaskGraph::Link& link : graph_.successors(task)) {
            if (where_[link.task] != unbounded) continue;
            if (child == no_task ||
                latest_[link.task] - earliest_[link.task] < latest_[child] - earliest_[child] - tolerance_) {
                child = link.task;
            }
        }
        return child;
    }

    /// When the child could start on the processor of its parent's place, right behind it or after
    /// everything.
    double child_start(TaskIndex task, TaskIndex child, const Place& place) {
        if (child == no_task) return 0;
        const double end = place.start + problem_.time(task, place.processor);
        double start = end;
        for (const TaskGraph::Link& link : graph_.predecessors(child)) {
            if (link.task == task) continue;
            const ProcessorIndex from = where_[link.task];
            const double way = from == unbounded ? problem_.mean_delay(link.bytes)
                                                 : problem_.delay(link.bytes, from, place.processor);
            start = std::max(start, earliest_[link.task] + time(link.task) + way);
        }
        const std::vector<TaskIndex>& run = run_by_[place.processor];
        const double duration = problem_.time(child, place.processor);
        if (place.position < run.size() && start + duration > latest_[run[place.position]] + tolerance_) {
            start = std::max(start, earliest_[run.back()] + time(run.back()));
        }
        return start;
    }

    void insert(TaskIndex task, const Place& place) {
        std::vector<TaskIndex>& run = run_by_[place.processor];
        where_[task] = place.processor;
        before_[task] = place.position > 0 ? run[place.position - 1] : no_task;
        after_[task] = place.position < run.size() ? run[place.position] : no_task;
        if (before_[task] != no_task) after_[before_[task]] = task;
        if (after_[task] != no_task) before_[after_[task]] = task;
        run.insert(run.begin() + static_cast<std::ptrdiff_t>(place.position), task);
        if (!run_by_.back().empty() && run_by_.size() < problem_.processors()) run_by_.emplace_back();
    }

    const Problem& problem_;
    const TaskGraph& graph_;
    std::vector<ProcessorIndex> where_;
    std::vector<TaskIndex> before_, after_;  ///< neighbours on the processor
    std::vector<std::vector<TaskIndex>> run_by_;
    std::vector<double> earliest_, latest_;
    std::vector<TaskIndex> order_;
    std::vector<bool> is_before_, is_after_;
    double tolerance_ = 0;
};

class Dcp final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        return DynamicCriticalPath(problem).run();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_dcp() {
    return std::make_unique<Dcp>();
}

}  // namespace heddle::schedulers
