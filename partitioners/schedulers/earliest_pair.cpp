// Schedules the earliest pair of task and processor in each step, by queues of ready tasks with a bound of
// when each can start.
#include "partitioners/schedulers/earliest_pair.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

/// When each processor is free, as a tree of minima.
class FreeTimes {
public:
    explicit FreeTimes(ProcessorIndex processors)
        : leaves_(std::bit_ceil(std::size_t{processors})),
          least_(2 * leaves_, std::numeric_limits<double>::infinity()) {
        for (ProcessorIndex i = 0; i < processors; ++i) set(i, 0);
    }

    void set(ProcessorIndex processor, double time) {
        std::size_t at = leaves_ + processor;
        least_[at] = time;
        while ((at /= 2) > 0) least_[at] = std::min(least_[2 * at], least_[2 * at + 1]);
    }

    double least() const { return least_[1]; }

    /// Of the processors from `begin` to before `end`.
    double least(ProcessorIndex begin, ProcessorIndex end) const {
        double least = std::numeric_limits<double>::infinity();
        std::size_t left = leaves_ + begin, right = leaves_ + end;
        for (; left < right; left /= 2, right /= 2) {
            if (left % 2 == 1) least = std::min(least, least_[left++]);
            if (right % 2 == 1) least = std::min(least, least_[--right]);
        }
        return least;
    }

    /// The first processor from `begin` on that is free at that time. There is one.
    ProcessorIndex first_free_at(double time, ProcessorIndex begin) const {
        std::size_t at = leaves_ + begin;
        while (least_[at] > time) at = at % 2 == 1 ? (at + 1) / 2 : at + 1;
        while (at < leaves_) at = least_[2 * at] <= time ? 2 * at : 2 * at + 1;
        return static_cast<ProcessorIndex>(at - leaves_);
    }

private:
    std::size_t leaves_;
    std::vector<double> least_;  ///< of the subtree under each vertex; vertex 1 is the root
};

/// Where a task is earliest.
struct Earliest {
    double moment = std::numeric_limits<double>::infinity();  ///< its end, or its start
    double start = 0;
    ProcessorIndex processor = 0;
};

class EarliestPairs {
public:
    EarliestPairs(const Problem& problem, const std::vector<double>& level)
        : problem_(problem),
          level_(level),
          by_start_(problem.equal_speeds()),
          partial_(problem),
          free_(problem.processors()),
          missing_(problem.graph()) {}

    // A moment only moves back as processors fill up, so the one that `later_` remembers is never too late.
    // No task starts before the first processor is free: for a task whose start has passed, in `due_`, that
    // is the better bound. It is the same for all of them, so the level decides and none is looked at in
    // vain.
    Schedule run() && {
        const auto expect = [this](TaskIndex task) {
            later_.emplace(earliest(task).moment, -level_[task], task);
        };
        for (const TaskIndex task : missing_.entries()) expect(task);
        while (!later_.empty() || !due_.empty()) {
            const TaskIndex task = take_first();
            const Earliest best = earliest(task);
            const Entry now{best.moment, -level_[task], task};
            if (another_may_be_before(now)) {
                later_.push(now);
                continue;
            }
            partial_.place(task, best.processor, best.start);
            free_.set(best.processor, partial_.free_from(best.processor));
            missing_.placed(task, expect);
        }
        return std::move(partial_).finish();
    }

private:
    using Entry = std::tuple<double, double, TaskIndex>;  ///< moment, minus the level, task
    using Urgent = std::pair<double, TaskIndex>;          ///< minus the level, task

    /// A range of processors with the same time of arrival and the same time of the task: there, the first of
    /// those that are free when the data arrive, else of those that are free first.
    Earliest earliest(TaskIndex task) {
        Earliest best;
        ProcessorIndex begin = 0;
        for (const PartialSchedule::Range& range : partial_.arrival_ranges(task)) {
            while (begin < range.end) {
                const ProcessorIndex end =
                    by_start_ ? range.end : problem_.same_time_until(task, begin, range.end);
                const double start = std::max(range.arrival, free_.least(begin, end));
                const double moment = by_start_ ? start : start + problem_.time(task, begin);
                if (moment < best.moment) best = {moment, start, free_.first_free_at(start, begin)};
                begin = end;
            }
        }
        return best;
    }

    TaskIndex take_first() {
        for (; by_start_ && !later_.empty() && std::get<0>(later_.top()) <= free_.least(); later_.pop())
            due_.emplace(std::get<1>(later_.top()), std::get<2>(later_.top()));
        const TaskIndex task = due_.empty() ? std::get<2>(later_.top()) : due_.top().second;
        due_.empty() ? later_.pop() : due_.pop();
        return task;
    }

    bool another_may_be_before(const Entry& now) const {
        return (!due_.empty() && Entry{free_.least(), due_.top().first, due_.top().second} < now) ||
               (!later_.empty() && later_.top() < now);
    }

    const Problem& problem_;
    const std::vector<double>& level_;
    const bool by_start_;
    PartialSchedule partial_;
    FreeTimes free_;
    ReadyCount missing_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> later_;
    std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>> due_;
};

}  // namespace

Schedule earliest_pairs(const Problem& problem, const std::vector<double>& level) {
    return EarliestPairs(problem, level).run();
}

}  // namespace heddle::schedulers
