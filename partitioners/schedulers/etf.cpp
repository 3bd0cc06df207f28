// ETF, earliest task first: of all pairs of a ready task and a processor, it takes the one that starts first;
// ties by static level. Hwang, Chow, Anger, Lee: "Scheduling precedence graphs in systems with interprocessor
// communication times", SIAM J. Computing 18(2), 1989. On equal processors, starts never go back in time, so
// the search walks through time. For the present moment it keeps the tasks that could start anywhere, and
// those that could start on one processor only. The paper's processors are equal. On unequal ones, the pair
// that ends first is taken, and where a message may take longer within a node than between nodes all pairs
// are compared (earliest_pair.hpp).
#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>

#include "partitioners/schedulers/earliest_pair.hpp"
#include "partitioners/schedulers/levels.hpp"
#include "partitioners/schedulers/members.hpp"
#include "partitioners/schedulers/partial.hpp"

namespace heddle::schedulers {

namespace {

constexpr ProcessorIndex anywhere = unbounded;

class EarliestTaskFirst {
public:
    explicit EarliestTaskFirst(const Problem& problem)
        : problem_(problem),
          level_(static_levels(problem)),
          partial_(problem),
          missing_(problem.graph()),
          placed_(problem.tasks(), false) {}

    Schedule run() && {
        for (const TaskIndex task : missing_.entries()) expect(task);
        for (TaskIndex left = problem_.tasks(); left > 0;) {
            advance();
            const std::optional<Choice> choice = choose();
            if (!choice) continue;
            const auto [task, processor] = *choice;
            placed_[task] = true;
            const double start =
                std::max({now_, partial_.arrival(task, processor), partial_.free_from(processor)});
            partial_.place(task, processor, start);
            free_here_.resize(partial_.choices());
            idle_.erase(std::find(idle_.begin(), idle_.end(), processor));
            busy_.emplace(partial_.free_from(processor), processor);
            if (processor + 1 == known_ && known_ < partial_.choices()) idle_.push_back(known_++);
            missing_.placed(task, [this](TaskIndex next) { expect(next); });
            --left;
        }
        return std::move(partial_).finish();
    }

private:
    using Urgent = std::pair<double, TaskIndex>;  ///< minus the static level, task
    using Queue = std::priority_queue<Urgent, std::vector<Urgent>, std::greater<>>;
    using Arrival = std::tuple<double, TaskIndex, ProcessorIndex>;
    using Free = std::pair<double, ProcessorIndex>;
    struct Choice {
        TaskIndex task;
        ProcessorIndex processor;
    };

    /// Notes when a task that has become ready can start: anywhere, and earlier on the node of its last
    /// message.
    void expect(TaskIndex task) {
        double latest = 0;
        ProcessorIndex node = 0;
        for (const TaskGraph::Link& link : problem_.graph().predecessors(task)) {
            const Slot& from = partial_.slot(link.task);
            const double far = from.finish + problem_.far_delay(link.bytes);
            if (far > latest) {
                latest = far;
                node = problem_.node(from.processor);
            }
        }
        arrivals_.emplace(latest, task, anywhere);
        if (problem_.graph().predecessors(task).empty()) return;
        const auto [first, last] = problem_.processors_of(node);
        for (ProcessorIndex i = first; i < last; ++i) {
            const double here = partial_.arrival(task, i);
            if (here < latest) arrivals_.emplace(here, task, i);
        }
    }

    /// Goes on to the next moment at which something can start, unless something can now.
    void advance() {
        if (known_ == 0) {
            known_ = partial_.choices();
            free_here_.resize(known_);
            for (ProcessorIndex i = 0; i < known_; ++i) idle_.push_back(i);
        }
        while (stuck_) {
            double next = arrivals_.empty() ? busy_.top().first : std::get<0>(arrivals_.top());
            if (!busy_.empty()) next = std::min(next, busy_.top().first);
            now_ = std::max(now_, next);
            stuck_ = false;
        }
        for (; !arrivals_.empty() && std::get<0>(arrivals_.top()) <= now_; arrivals_.pop()) {
            const auto [moment, task, processor] = arrivals_.top();
            if (placed_[task]) continue;
            (processor == anywhere ? free_anywhere_ : free_here_[processor]).emplace(-level_[task], task);
        }
        for (; !busy_.empty() && busy_.top().first <= now_; busy_.pop()) idle_.push_back(busy_.top().second);
    }

    std::optional<Choice> choose() {
        const auto top = [this](Queue& queue) {
            while (!queue.empty() && placed_[queue.top().second]) queue.pop();
            return queue.empty() ? nullptr : &queue.top();
        };
        std::optional<Choice> choice;
        if (!idle_.empty()) {
            Urgent best{};
            if (const Urgent* urgent = top(free_anywhere_)) {
                best = *urgent;
                const auto slower = [this, urgent](ProcessorIndex a, ProcessorIndex b) {
                    return std::pair(problem_.time(urgent->second, a), a) <
                           std::pair(problem_.time(urgent->second, b), b);
                };
                choice = {urgent->second, *std::min_element(idle_.begin(), idle_.end(), slower)};
            }
            for (const ProcessorIndex i : idle_) {
                const Urgent* urgent = top(free_here_[i]);
                if (urgent && (!choice || *urgent < best || (*urgent == best && i < choice->processor))) {
                    best = *urgent;
                    choice = {urgent->second, i};
                }
            }
        }
        stuck_ = !choice;
        return choice;
    }

    const Problem& problem_;
    const std::vector<double> level_;
    PartialSchedule partial_;
    ReadyCount missing_;
    std::vector<bool> placed_;

    double now_ = 0;
    bool stuck_ = false;
    ProcessorIndex known_ = 0;  ///< processors that are in idle_ or busy_
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> busy_;
    std::vector<ProcessorIndex> idle_;
    Queue free_anywhere_;
    std::vector<Queue> free_here_;
};

/// Whether a message may take longer to another processor of its node than to another node. Then a task that
/// can start on any other node cannot yet start anywhere.
bool may_be_slower_within(const Problem& problem) {
    if (problem.interchangeable()) return false;
    const MessageCost& within = problem.machine().within_node;
    const bool one_node = problem.node(problem.processors() - 1) == 0;
    for (TaskIndex task = 0; task < problem.tasks(); ++task) {
        for (const TaskGraph::Link& link : problem.graph().successors(task))
            if (within.of(link.bytes) > (one_node ? 0 : problem.far_delay(link.bytes))) return true;
    }
    return false;
}

class Etf final : public Scheduler {
public:
    Schedule schedule(const Problem& problem, const Options&) const override {
        if (!problem.equal_speeds() || !problem.equal_distances() || may_be_slower_within(problem))
            return earliest_pairs(problem, static_levels(problem));
        return EarliestTaskFirst(problem).run();
    }
};

}  // namespace

std::unique_ptr<Scheduler> make_etf() {
    return std::make_unique<Etf>();
}

}  // namespace heddle::schedulers
