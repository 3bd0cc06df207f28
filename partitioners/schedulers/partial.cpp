// Finds idle intervals of processors and the arrival times of a task's data, for list schedulers.
#include "partitioners/schedulers/partial.hpp"

#include <algorithm>

namespace heddle::schedulers {

double Timeline::first_gap(double ready, double duration) const {
    if (ready < begin_ && ready + duration <= begin_) return ready;
    auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), ready,
                                [](double moment, const Gap& other) { return moment < other.to; });
    for (; gap != gaps_.end(); ++gap) {
        const double start = std::max(ready, gap->from);
        if (start + duration <= gap->to) return start;
    }
    return std::max(ready, end_);
}

void Timeline::take(double start, double finish) {
    if (start >= end_) {
        if (end_ == 0) {
            begin_ = start;
        } else if (start > end_) {
            gaps_.push_back({end_, start});
        }
        end_ = finish;
        return;
    }
    if (start < begin_) {
        if (finish < begin_) gaps_.insert(gaps_.begin(), {finish, begin_});
        begin_ = start;
        return;
    }
    auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), start,
                                [](double moment, const Gap& other) { return moment < other.to; });
    if (gap == gaps_.end()) return;  // a task without duration on a busy processor's edge
    const Gap after{finish, gap->to};
    const bool before_is_left = start > gap->from, after_is_left = after.to > after.from;
    if (before_is_left) {
        gap->to = start;
        if (after_is_left) gaps_.insert(gap + 1, after);
    } else if (after_is_left) {
        *gap = after;
    } else {
        gaps_.erase(gap);
    }
}

PartialSchedule::PartialSchedule(const Problem& problem)
    : problem_(&problem),
      choices_(problem.interchangeable() ? 1 : problem.processors()),
      slots_(problem.tasks()),
      timelines_(choices_),
      arrivals_(choices_) {
    for (ProcessorIndex i = 0; i < choices_; ++i) free_.emplace(0.0, i);
}

ProcessorIndex PartialSchedule::first_free() {
    while (free_.top().first != free_from(free_.top().second)) free_.pop();
    return free_.top().second;
}

const std::vector<double>& PartialSchedule::arrivals(TaskIndex task) {
    if (!problem_->equal_distances()) {
        arrivals_.resize(choices_);
        auto next = arrivals_.begin();
        for (const Range& range : arrival_ranges(task)) {
            const auto end = arrivals_.begin() + range.end;
            std::fill(next, end, range.arrival);
            next = end;
        }
        return arrivals_;
    }
    arrivals_from_far(task);
    for (const TaskGraph::Link& link : problem_->graph().predecessors(task)) {
        const Slot& from = slots_[link.task];
        const auto [begin, end] = problem_->processors_of(problem_->node(from.processor));
        for (ProcessorIndex i = begin; i < std::min(end, choices_); ++i) {
            const double here = from.finish + problem_->delay(link.bytes, from.processor, i);
            arrivals_[i] = std::max(arrivals_[i], here);
        }
    }
    return arrivals_;
}

/// Calls `raise(end, moment)` for the ranges of processors at which this message alone is at one moment.
template <class Raise>
void PartialSchedule::each_range(const TaskGraph::Link& link, Raise&& raise) const {
    const Slot& from = slots_[link.task];
    const ProcessorIndex source = problem_->node(from.processor);
    const auto [begin, end] = problem_->processors_of(source);
    const auto far = [&](ProcessorIndex node, ProcessorIndex last) {
        while (node < last) {
            const double moment = from.finish + problem_->delay_between(link.bytes, source, node);
            node = std::min(problem_->equally_far_until(source, node), last);
            raise(std::min(problem_->processors_of(node - 1).second, choices_), moment);
        }
    };
    const auto near = [&](ProcessorIndex last, ProcessorIndex to) {
        raise(last, from.finish + problem_->delay(link.bytes, from.processor, to));
    };
    far(0, source);
    if (from.processor > begin) near(from.processor, begin);
    near(from.processor + 1, from.processor);
    if (from.processor + 1 < end) near(end, end - 1);
    far(source + 1, problem_->node(choices_ - 1) + 1);
}

const std::vector<PartialSchedule::Range>& PartialSchedule::arrival_ranges(TaskIndex task) {
    ranges_.assign(1, {choices_, 0});
    for (const TaskGraph::Link& link : problem_->graph().predecessors(task)) {
        finer_.clear();
        auto old = ranges_.begin();
        each_range(link, [&](ProcessorIndex end, double moment) {
            for (bool more = true; more;) {
                const ProcessorIndex until = std::min(old->end, end);
                const double later = std::max(old->arrival, moment);
                if (!finer_.empty() && finer_.back().arrival == later)
                    finer_.back().end = until;
                else
                    finer_.push_back({until, later});
                more = until < end;
                if (until == old->end) ++old;
            }
        });
        ranges_.swap(finer_);
    }
    return ranges_;
}

/// The messages between nodes that are equally far from each other.
void PartialSchedule::arrivals_from_far(TaskIndex task) {
    // The latest message from another node decides everywhere but on the node that it comes from; there the
    // latest one from a third node does.
    double latest = 0, latest_elsewhere = 0;
    ProcessorIndex its_node = 0;
    for (const TaskGraph::Link& link : problem_->graph().predecessors(task)) {
        const Slot& from = slots_[link.task];
        const ProcessorIndex node = problem_->node(from.processor);
        const double far = from.finish + problem_->far_delay(link.bytes);
        if (node == its_node) {
            latest = std::max(latest, far);
        } else if (far > latest) {
            latest_elsewhere = latest;
            latest = far;
            its_node = node;
        } else {
            latest_elsewhere = std::max(latest_elsewhere, far);
        }
    }
    arrivals_.assign(choices_, latest);
    const auto [first, last] = problem_->processors_of(its_node);
    for (ProcessorIndex i = first; i < std::min(last, choices_); ++i) arrivals_[i] = latest_elsewhere;
}

double PartialSchedule::arrival(TaskIndex task, ProcessorIndex processor) const {
    double latest = 0;
    for (const TaskGraph::Link& link : problem_->graph().predecessors(task)) {
        const Slot& from = slots_[link.task];
        latest = std::max(latest, from.finish + problem_->delay(link.bytes, from.processor, processor));
    }
    return latest;
}

void PartialSchedule::place(TaskIndex task, ProcessorIndex processor, double start) {
    const double finish = start + problem_->time(task, processor);
    slots_[task] = {processor, start, finish};
    timelines_[processor].take(start, finish);
    free_.emplace(free_from(processor), processor);
    if (processor + 1 == choices_ && choices_ < problem_->processors()) {
        ++choices_;
        timelines_.emplace_back();
        free_.emplace(0.0, processor + 1);
    }
}

void PartialSchedule::place_to_end_first(TaskIndex task, bool insertion) {
    const std::vector<double>& ready = arrivals(task);
    ProcessorIndex best = 0;
    double best_start = 0, best_finish = 0, duration = 0;
    ProcessorIndex same_until = 0;
    for (ProcessorIndex i = 0; i < choices_; ++i) {
        if (i == same_until) {
            duration = problem_->time(task, i);
            same_until = problem_->same_time_until(task, i, choices_);
        }
        const double start = insertion ? first_gap(i, ready[i], duration) : std::max(ready[i], free_from(i));
        if (i == 0 || start + duration < best_finish) {
            best = i;
            best_start = start;
            best_finish = start + duration;
        }
    }
    place(task, best, best_start);
}

ReadyCount::ReadyCount(const TaskGraph& graph) : graph_(&graph), missing_(graph.tasks()) {
    for (TaskIndex task = 0; task < graph.tasks(); ++task) {
        missing_[task] = static_cast<std::uint32_t>(graph.predecessors(task).size());
        if (missing_[task] == 0) entries_.push_back(task);
    }
}

}  // namespace heddle::schedulers
