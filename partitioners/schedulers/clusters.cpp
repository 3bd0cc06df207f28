// Maps clusters of tasks onto processors, and orders tasks whose processors are known.
#include "partitioners/schedulers/clusters.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

class ListMapping {
public:
    ListMapping(const Problem& problem, const Clustering& clustering)
        : problem_(problem),
          clustering_(clustering),
          level_(bottom_levels(problem)),
          missing_(problem.graph()),
          home_(clustering.clusters, unbounded),
          mine_(problem.processors()) {
        for (ProcessorIndex i = 0; i < problem.processors(); ++i) free_.emplace(0.0, i);
    }

    std::vector<ProcessorIndex> run() {
        for (const TaskIndex task : missing_.entries()) add(task);
        std::vector<ProcessorIndex> processor(problem_.tasks());
        for (TaskIndex left = problem_.tasks(); left > 0;) {
            const ProcessorIndex first = free_.top().second;
            free_.pop();
            const bool has_new = !homeless().empty(), has_own = !mine_[first].empty();
            if (!has_own && !has_new) {
                asleep_.push_back(first);
                continue;
            }
            const bool own = has_own && (!has_new || start(mine_[first].top().second, first) <=
                                                         start(homeless_.top().second, first));
            Queue& queue = own ? mine_[first] : homeless_;
            const TaskIndex task = queue.top().second;
            queue.pop();
            if (!own) home_[clustering_.cluster[task]] = first;
            finish(task, first);
            processor[task] = first;
            --left;
        }
        return processor;
    }

private:
    using Urgent = std::pair<double, TaskIndex>;
    using Queue = std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>>;

    void add(TaskIndex task) {
        const ProcessorIndex home = home_[clustering_.cluster[task]];
        (home == unbounded ? homeless_ : mine_[home]).emplace(-level_[task], task);
    }

    /// The tasks of clusters without a processor; what has found one meanwhile goes there.
    const Queue& homeless() {
        while (!homeless_.empty() && home_[clustering_.cluster[homeless_.top().second]] != unbounded) {
            const Urgent urgent = homeless_.top();
            homeless_.pop();
            mine_[home_[clustering_.cluster[urgent.second]]].push(urgent);
        }
        return homeless_;
    }

    double start(TaskIndex task, ProcessorIndex processor) const {
        double latest = ends_[processor];
        for (const TaskGraph::Link& link : problem_.graph().predecessors(task)) {
            const Slot& from = slots_[link.task];
            latest = std::max(latest, from.finish + problem_.delay(link.bytes, from.processor, processor));
        }
        return latest;
    }

    void finish(TaskIndex task, ProcessorIndex processor) {
        const double from = start(task, processor);
        slots_[task] = {processor, from, from + problem_.time(task, processor)};
        ends_[processor] = slots_[task].finish;
        free_.emplace(ends_[processor], processor);
        missing_.placed(task, [this](TaskIndex next) { add(next); });
        for (const ProcessorIndex i : asleep_) free_.emplace(ends_[i], i);
        asleep_.clear();
    }

    const Problem& problem_;
    const Clustering& clustering_;
    const std::vector<double> level_;
    ReadyCount missing_;
    std::vector<ProcessorIndex> home_;
    std::vector<Queue> mine_;
    Queue homeless_;
    std::vector<Slot> slots_ = std::vector<Slot>(problem_.tasks());
    std::vector<double> ends_ = std::vector<double>(problem_.processors(), 0);
    using Free = std::pair<double, ProcessorIndex>;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free_;
    std::vector<ProcessorIndex> asleep_;
};

std::vector<double> work_of_clusters(const Problem& problem, const Clustering& clustering) {
    std::vector<double> work(clustering.clusters, 0);
    for (TaskIndex task = 0; task < problem.tasks(); ++task)
        work[clustering.cluster[task]] += problem.mean_time(task);
    return work;
}

std::vector<std::uint32_t> by_falling_work(const std::vector<double>& work) {
    std::vector<std::uint32_t> order(work.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&work](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
    return order;
}

std::vector<ProcessorIndex> of_tasks(const Clustering& clustering, const std::vector<ProcessorIndex>& home) {
    std::vector<ProcessorIndex> processor;
    processor.reserve(clustering.cluster.size());
    for (const std::uint32_t cluster : clustering.cluster) processor.push_back(home[cluster]);
    return processor;
}

}  // namespace

std::vector<ProcessorIndex> map_by_list(const Problem& problem, const Clustering& clustering) {
    return ListMapping(problem, clustering).run();
}

std::vector<ProcessorIndex> map_by_load(const Problem& problem, const Clustering& clustering) {
    const std::vector<double> work = work_of_clusters(problem, clustering);
    const ProcessorIndex processors = std::min(problem.processors(), std::max(clustering.clusters, 1U));
    using Load = std::pair<double, ProcessorIndex>;
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (ProcessorIndex i = 0; i < processors; ++i) loads.emplace(0.0, i);
    std::vector<ProcessorIndex> home(clustering.clusters);
    for (const std::uint32_t cluster : by_falling_work(work)) {
        const auto [load, i] = loads.top();
        loads.pop();
        home[cluster] = i;
        loads.emplace(load + work[cluster], i);
    }
    return of_tasks(clustering, home);
}

std::vector<ProcessorIndex> map_by_finish(const Problem& problem, const Clustering& clustering) {
    std::vector<ProcessorIndex> home(clustering.clusters, unbounded);
    PartialSchedule partial(problem);
    for (const TaskIndex task : by_priority(problem, bottom_levels(problem))) {
        ProcessorIndex& its = home[clustering.cluster[task]];
        if (its == unbounded) {
            partial.place_to_end_first(task, true);
            its = partial.slot(task).processor;
        } else {
            const double ready = partial.arrival(task, its);
            partial.place(task, its, partial.first_gap(its, ready, problem.time(task, its)));
        }
    }
    return of_tasks(clustering, home);
}

std::vector<ProcessorIndex> map_by_speed(const Problem& problem, const Clustering& clustering) {
    std::vector<std::vector<TaskIndex>> members(clustering.clusters);
    for (TaskIndex task = 0; task < problem.tasks(); ++task)
        members[clustering.cluster[task]].push_back(task);
    std::vector<ProcessorIndex> home(clustering.clusters);
    std::vector<double> load(problem.processors(), 0);
    for (const std::uint32_t cluster : by_falling_work(work_of_clusters(problem, clustering))) {
        double least = 0;
        for (ProcessorIndex i = 0; i < problem.processors(); ++i) {
            double end = load[i];
            for (const TaskIndex task : members[cluster]) end += problem.time(task, i);
            if (i > 0 && end >= least) continue;
            least = end;
            home[cluster] = i;
        }
        load[home[cluster]] = least;
    }
    return of_tasks(clustering, home);
}

Schedule schedule_on(const Problem& problem, std::span<const ProcessorIndex> processor) {
    const auto last = std::max_element(processor.begin(), processor.end());
    std::vector<Timeline> timelines(last == processor.end() ? 0 : std::size_t{*last} + 1);
    std::vector<Slot> slots(problem.tasks());
    for (const TaskIndex task : by_priority(problem, bottom_levels(problem))) {
        const ProcessorIndex here = processor[task];
        double ready = 0;
        for (const TaskGraph::Link& link : problem.graph().predecessors(task)) {
            const Slot& from = slots[link.task];
            ready = std::max(ready, from.finish + problem.delay(link.bytes, from.processor, here));
        }
        const double duration = problem.time(task, here);
        const double start = timelines[here].first_gap(ready, duration);
        slots[task] = {here, start, start + duration};
        timelines[here].take(start, slots[task].finish);
    }
    return {problem, std::move(slots)};
}

}  // namespace heddle::schedulers
