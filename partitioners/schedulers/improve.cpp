// Improves a schedule by late acceptance hill climbing (Burke, Bykov, EJOR 258, 2017): it changes the order
// in which tasks are placed and, in turns, their processors. Tasks on the critical path move most. Schedules
// are also pushed to their end and back (forward-backward improvement: Valls, Ballestin, Quintanilla, EJOR
// 165, 2005).
#include "partitioners/schedulers/improve.hpp"

#include <algorithm>
#include <numeric>

#include "partitioners/schedulers/costs.hpp"
#include "partitioners/schedulers/exact.hpp"
#include "partitioners/schedulers/partial.hpp"
#include "partitioners/schedulers/symmetry.hpp"

namespace heddle::schedulers {

namespace {

/// Of two schedules equally long the one whose tasks are less late is nearer to a shorter one. How much of
/// the mean lateness makes up for a unit of length.
constexpr double lateness_weight = 0.2;

/// An order of all tasks, each after its predecessors, and perhaps their processors.
struct Plan {
    std::vector<TaskIndex> sequence;
    std::vector<ProcessorIndex> processor;
};

/// Turns plans into schedules: each task in its turn as early as possible, in idle intervals too.
class Decoder {
public:
    Decoder(const Problem& problem, const Symmetry& symmetry)
        : problem_(problem),
          symmetry_(symmetry),
          graph_(problem.graph()),
          timelines_(symmetry.processors()),
          costs_(problem, symmetry.processors()),
          slots_(graph_.tasks()) {
        const MessageCost& within = problem.machine().within_node;
        const MessageCost& between = problem.machine().between_nodes;
        free_messages_ = !problem.in_picoseconds() && within.latency == 0 && within.time_per_byte == 0 &&
                         between.latency == 0 && between.time_per_byte == 0;
    }

    bool free_messages() const { return free_messages_; }

    /// The makespan. `fixed`: every task on the plan's processor; otherwise where it ends first, which is
    /// noted in the plan. `backward`: time and edges turned round, the sequence from its end.
    double decode(Plan& plan, bool fixed, bool backward = false) {
        for (Timeline& timeline : timelines_) timeline.clear();
        length_ = 0;
        const auto processors = static_cast<ProcessorIndex>(timelines_.size());
        for (std::size_t i = 0; i < plan.sequence.size(); ++i) {
            const TaskIndex task = backward ? plan.sequence[plan.sequence.size() - 1 - i] : plan.sequence[i];
            const auto links = backward ? graph_.successors(task) : graph_.predecessors(task);
            Slot best;
            const auto look_at = [&](ProcessorIndex p, double ready) {
                const double time = costs_.time(task, p);
                // No gap begins before the task is ready.
                if (best.processor != unbounded && ready + time >= best.finish) return;
                const double start = timelines_[p].first_gap(ready, time);
                if (best.processor == unbounded || start + time < best.finish)
                    best = {p, start, start + time};
            };
            best.processor = unbounded;
            if (fixed) {
                look_at(plan.processor[task], arrival(links, plan.processor[task], backward));
            } else if (free_messages_) {
                const double ready = arrival(links, 0, backward);
                for (ProcessorIndex p = 0; p < processors; ++p) {
                    look_at(p, ready);
                    if (problem_.equal_speeds() && (best.start == ready || timelines_[p].end() == 0)) break;
                }
            } else {
                for (ProcessorIndex p = 0; p < processors;) {
                    look_at(p, arrival(links, p, backward));
                    p = timelines_[p].end() == 0 ? symmetry_.behind_unused(p) : p + 1;
                }
            }
            if (!fixed) plan.processor[task] = best.processor;
            timelines_[best.processor].take(best.start, best.finish);
            slots_[task] = best;
            length_ = std::max(length_, best.finish);
        }
        return length_;
    }

    const std::vector<Slot>& slots() const { return slots_; }

    /// By how much tasks start too late, in the mean, for a schedule that is over at `end`.
    double lateness(const std::vector<double>& to_end, double end) const {
        double late = 0;
        for (std::size_t task = 0; task < slots_.size(); ++task) {
            late += std::max(0.0, slots_[task].start + to_end[task] - end);
        }
        return late / static_cast<double>(slots_.size());
    }

    /// Orders the plan by the starts of what was decoded last; after `backward`, by its ends, from the last.
    void order_by_time(Plan& plan, bool backward) const {
        // The sequence is a topological order (turned round: read from its end), so ties may stay.
        std::stable_sort(plan.sequence.begin(), plan.sequence.end(), [&](TaskIndex a, TaskIndex b) {
            return backward ? slots_[a].start > slots_[b].start : slots_[a].start < slots_[b].start;
        });
    }

    /// A chain of tasks that wait for each other, from a last one to the start, appended to `chain`.
    void critical_chain(Random& random, std::vector<TaskIndex>& chain) const {
        chain.clear();
        std::vector<TaskIndex> ends;
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            if (slots_[task].finish >= length_) ends.push_back(task);
        }
        while (!ends.empty() && chain.size() < graph_.tasks()) {
            const TaskIndex task = ends[random.below(ends.size())];
            chain.push_back(task);
            ends.clear();
            const Slot& slot = slots_[task];
            for (const TaskGraph::Link& link : graph_.predecessors(task)) {
                const Slot& from = slots_[link.task];
                if (from.finish + costs_.delay_in(link, from.processor, slot.processor) >= slot.start) {
                    ends.push_back(link.task);
                }
            }
            if (!ends.empty() && random.below(2) == 0) continue;
            for (TaskIndex other = 0; other < graph_.tasks(); ++other) {
                if (slots_[other].finish == slot.start && slots_[other].start < slot.start &&
                    (free_messages_ || slots_[other].processor == slot.processor)) {
                    ends.push_back(other);
                }
            }
        }
    }

private:
    double arrival(std::span<const TaskGraph::Link> links, ProcessorIndex processor, bool backward) const {
        double latest = 0;
        for (const TaskGraph::Link& link : links) {
            const Slot& from = slots_[link.task];
            const double delay = free_messages_ ? 0
                                 : backward     ? costs_.delay_out(link, from.processor, processor)
                                                : costs_.delay_in(link, from.processor, processor);
            latest = std::max(latest, from.finish + delay);
        }
        return latest;
    }

    const Problem& problem_;
    const Symmetry& symmetry_;
    const TaskGraph& graph_;
    std::vector<Timeline> timelines_;
    Costs costs_;
    std::vector<Slot> slots_;
    double length_ = 0;
    bool free_messages_ = false;
};

class LocalSearch {
public:
    LocalSearch(const Problem& problem, const Schedule& known, double enough, std::size_t tries,
                Random random, const std::function<bool()>& out_of_time)
        : problem_(problem),
          symmetry_(problem),
          graph_(problem.graph()),
          enough_(enough * (1 + 1e-12)),
          tries_left_(tries),
          random_(random),
          out_of_time_(out_of_time),
          decoder_(problem, symmetry_),
          best_length_(known.makespan()),
          to_end_(message_bounds(problem).to_end),
          place_(graph_.tasks()) {
        best_.sequence = graph_.topological_order();
        std::stable_sort(best_.sequence.begin(), best_.sequence.end(),
                         [&](TaskIndex a, TaskIndex b) { return known.start(a) < known.start(b); });
        for (TaskIndex task = 0; task < graph_.tasks(); ++task)
            best_.processor.push_back(known.processor(task));
        symmetry_.renumber(best_.sequence, best_.processor);
    }

    Schedule run(const Schedule& known) && {
        for (std::size_t round = 0; !over(); ++round) {
            const bool fixed = !decoder_.free_messages() && round % 2 == 1;
            climb(fixed, round);
        }
        return best_slots_.empty() ? known : Schedule(problem_, best_slots_);
    }

private:
    bool over() {
        if (best_length_ <= enough_ || graph_.tasks() < 2) return true;
        return tries_left_ == 0 || (out_of_time_ && out_of_time_());
    }

    double evaluate(Plan& plan, bool fixed) {
        if (tries_left_ > 0) --tries_left_;
        const double length = decoder_.decode(plan, fixed);
        if (length < best_length_) {
            best_length_ = length;
            best_slots_ = decoder_.slots();
            best_ = plan;
            decoder_.order_by_time(best_, false);
        }
        return length + lateness_weight * decoder_.lateness(to_end_, enough_);
    }

    /// To the end of time and back, until that stops helping.
    double push_back_and_forth(Plan& plan, double length) {
        for (;;) {
            Plan other = plan;
            decoder_.order_by_time(other, false);
            decoder_.decode(other, false, true);
            decoder_.order_by_time(other, true);
            const double now = evaluate(other, false);
            if (now < length || (now == length && random_.below(4) == 0)) plan = other;
            if (now >= length) return length;
            length = now;
        }
    }

    void climb(bool fixed, std::size_t round) {
        Plan plan = best_;
        for (std::size_t kicks = round == 0 ? 0 : random_.below(1 + graph_.tasks() / 4); kicks > 0; --kicks) {
            plan = changed(plan, fixed, static_cast<TaskIndex>(random_.below(graph_.tasks())));
        }
        double length = evaluate(plan, fixed);
        if (!fixed) length = push_back_and_forth(plan, length);
        const std::size_t memory = std::size_t{10} << std::min<std::size_t>(round / 2, 6);
        std::vector<double> late(memory, length);
        double lowest = length;
        std::size_t idle = 0;
        evaluate(plan, fixed);
        decoder_.critical_chain(random_, chain_);
        for (std::size_t step = 0; idle < 20 * memory + std::size_t{4} * graph_.tasks() && !over();
             ++step, ++idle) {
            const TaskIndex task = !chain_.empty() && random_.below(3) != 0
                                       ? chain_[random_.below(chain_.size())]
                                       : static_cast<TaskIndex>(random_.below(graph_.tasks()));
            Plan next = changed(plan, fixed, task);
            double now = evaluate(next, fixed);
            double& compared = late[step % memory];
            if (now <= length || now <= compared) {
                length = now;
                plan = std::move(next);
                decoder_.critical_chain(random_, chain_);
                if (!fixed && random_.below(16) == 0) {
                    length = push_back_and_forth(plan, length);
                    evaluate(plan, fixed);
                    decoder_.critical_chain(random_, chain_);
                }
            }
            compared = std::min(compared, length);
            if (length < lowest) {
                lowest = length;
                idle = 0;
            }
        }
    }

    /// The task somewhere else in the sequence, as far as its neighbours in the graph let it; with fixed
    /// processors perhaps on another one, mostly one of its neighbours'.
    Plan changed(const Plan& plan, bool fixed, TaskIndex task) {
        Plan next = plan;
        if (fixed && random_.below(3) != 0) next.processor[task] = another_processor(plan, task);
        for (std::size_t i = 0; i < next.sequence.size(); ++i) place_[next.sequence[i]] = i;
        std::size_t first = 0, last = next.sequence.size() - 1;
        for (const TaskGraph::Link& link : graph_.predecessors(task))
            first = std::max(first, place_[link.task] + 1);
        for (const TaskGraph::Link& link : graph_.successors(task))
            last = std::min(last, place_[link.task] - 1);
        const std::size_t from = place_[task], to = first + random_.below(last - first + 1);
        const auto at = [&next](std::size_t i) {
            return next.sequence.begin() + static_cast<std::ptrdiff_t>(i);
        };
        if (to < from) std::rotate(at(to), at(from), at(from + 1));
        if (to > from) std::rotate(at(from), at(from + 1), at(to + 1));
        return next;
    }

    ProcessorIndex another_processor(const Plan& plan, TaskIndex task) {
        const auto before = graph_.predecessors(task), after = graph_.successors(task);
        const std::size_t neighbours = before.size() + after.size();
        if (neighbours > 0 && random_.below(4) != 0) {
            const std::size_t i = random_.below(neighbours);
            return plan.processor[i < before.size() ? before[i].task : after[i - before.size()].task];
        }
        return static_cast<ProcessorIndex>(random_.below(symmetry_.processors()));
    }

    const Problem& problem_;
    const Symmetry symmetry_;
    const TaskGraph& graph_;
    const double enough_;
    std::size_t tries_left_;
    Random random_;
    const std::function<bool()>& out_of_time_;
    Decoder decoder_;
    Plan best_;
    double best_length_;
    std::vector<Slot> best_slots_;
    std::vector<double> to_end_;
    std::vector<std::size_t> place_;
    std::vector<TaskIndex> chain_;
};

}  // namespace

Schedule improve(const Problem& problem, const Schedule& known, double enough, std::size_t tries,
                 Random random, const std::function<bool()>& out_of_time) {
    return LocalSearch(problem, known, enough, tries, random, out_of_time).run(known);
}

}  // namespace heddle::schedulers
