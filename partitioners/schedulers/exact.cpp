// Branch and bound over schedules whose tasks are placed in the order of their starts. Each schedule in which
// no task could start earlier is reached once. If several partial schedules leave the same choices, only one
// is continued.
#include "partitioners/schedulers/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "partitioners/schedulers/costs.hpp"
#include "partitioners/schedulers/symmetry.hpp"
#include "partitioners/schedulers/verify.hpp"

namespace heddle::schedulers {

namespace {

struct Key {
    std::uint64_t a = 0, b = 0;
    friend bool operator==(const Key&, const Key&) = default;
    friend auto operator<=>(const Key&, const Key&) = default;
};

std::uint64_t mix(std::uint64_t one, std::uint64_t two) {
    return Random(one ^ (two * 0x9e3779b97f4a7c15))();
}

/// A set of 128-bit hashes with a limit to its size; what does not fit is forgotten.
class Seen {
public:
    /// True where the key was there already.
    bool insert(Key key) {
        if (key == Key{}) key.a = 1;
        if (2 * (size_ + 1) > table_.size() && table_.size() < size_max) grow();
        if (2 * size_ > table_.size()) return contains(key);
        std::size_t at = slot(key);
        if (table_[at] == key) return true;
        table_[at] = key;
        ++size_;
        return false;
    }

private:
    static constexpr std::size_t size_max = std::size_t{1} << 22;

    std::size_t slot(const Key& key) const {
        std::size_t at = key.a & (table_.size() - 1);
        while (table_[at] != Key{} && table_[at] != key) at = (at + 1) & (table_.size() - 1);
        return at;
    }
    bool contains(const Key& key) const { return table_[slot(key)] == key; }
    void grow() {
        std::vector<Key> old(table_.size() * 2);
        old.swap(table_);
        for (const Key& key : old) {
            if (key != Key{}) table_[slot(key)] = key;
        }
    }

    std::vector<Key> table_ = std::vector<Key>(1024);
    std::size_t size_ = 0;
};

class BranchAndBound {
public:
    BranchAndBound(const Problem& problem, const Schedule& known, std::size_t nodes_max,
                   const std::function<bool()>& out_of_time)
        : problem_(problem),
          graph_(problem.graph()),
          out_of_time_(out_of_time),
          nodes_left_(nodes_max),
          whole_(in_whole_numbers(problem)),
          symmetry_(problem),
          processors_(symmetry_.processors()),
          costs_(problem, processors_),
          best_length_(known.makespan()),
          missing_(graph_.tasks()),
          open_successors_(graph_.tasks()),
          slots_(graph_.tasks()),
          placed_(graph_.tasks(), false),
          ends_(processors_, 0),
          tasks_on_(processors_, 0),
          earliest_(graph_.tasks()),
          processor_keys_(processors_) {
        if (processors_ > 1) {
            bounds_ = message_bounds(problem);
        } else {
            bounds_.from_start.assign(graph_.tasks(), 0);
            bounds_.to_end.assign(graph_.tasks(), 0);
        }
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            missing_[task] = static_cast<std::uint32_t>(graph_.predecessors(task).size());
            open_successors_[task] = static_cast<std::uint32_t>(graph_.successors(task).size());
            least_times_.push_back(problem.least_time(task));
            work_left_ += least_times_.back();
            for (const TaskGraph::Link& link : graph_.successors(task))
                most_delays_.push_back(problem.most_delay(link.bytes));
            bound_ = std::max(bound_, bounds_.from_start[task] + bounds_.to_end[task]);
        }
        bound_ = std::max(lifted(bound_), lower_bounds(problem).best());
        done_ = best_length_ <= bound_ * (1 + 1e-12);
    }

    Schedule run(const Schedule& known) && {
        if (!done_) visit(0, 0);
        Schedule result = best_.empty() ? known : Schedule(problem_, best_);
        const bool complete = !cut_off_ || result.makespan() <= bound_ * (1 + 1e-12);
        result.set_proved_bound(complete ? result.makespan() : std::max(bound_, known.proved_bound()));
        return result;
    }

private:
    struct Move {
        double urgency;  ///< minus the least length of a schedule with it
        double finish, start;
        TaskIndex task;
        ProcessorIndex processor;

        friend auto operator<=>(const Move&, const Move&) = default;
    };

    /// A bound as a possible makespan.
    double lifted(double bound) const {
        return whole_ ? std::ceil(bound * (1 - 1e-12) - 1e-9) : bound * (1 - 1e-12);
    }
    bool hopeless(double bound) const { return lifted(bound) >= best_length_ * (1 - 1e-12); }

    double arrival(TaskIndex task, ProcessorIndex processor) const {
        double latest = 0;
        for (const TaskGraph::Link& link : graph_.predecessors(task)) {
            const Slot& from = slots_[link.task];
            latest = std::max(latest, from.finish + costs_.delay_in(link, from.processor, processor));
        }
        return latest;
    }

    void visit(TaskIndex placed, double last_start) {
        if (placed == graph_.tasks()) {
            double length = 0;
            for (const ProcessorIndex processor : used_) length = std::max(length, ends_[processor]);
            if (length < best_length_) {
                best_length_ = length;
                best_ = slots_;
                done_ = best_length_ <= bound_ * (1 + 1e-12);
            }
            return;
        }
        if (nodes_left_ == 0 || (nodes_left_ % 64 == 0 && out_of_time_ && out_of_time_())) {
            cut_off_ = done_ = true;
            return;
        }
        --nodes_left_;
        // Each task that is left begins to use one more processor at most.
        const std::size_t used = std::min<std::size_t>(processors_, used_.size() + graph_.tasks() - placed);
        double bound = work_left_ + static_cast<double>(used - used_.size()) * last_start;
        for (const ProcessorIndex processor : used_) bound += std::max(ends_[processor], last_start);
        if (hopeless(bound / static_cast<double>(used))) return;

        std::vector<Move> moves;
        if (!possible_moves(last_start, moves)) return;
        if (seen_.insert(state(last_start))) return;
        std::sort(moves.begin(), moves.end());
        for (const Move& move : moves) {
            if (hopeless(-move.urgency)) continue;
            place(placed, move);
            if (done_) return;
        }
    }

    /// Unused processors that are alike count once, and so do unused nodes.
    void find_choices() {
        choices_.clear();
        bool has_unused = false;
        for (ProcessorIndex node = 0; node < symmetry_.nodes(); ++node) {
            const auto [first, end] = symmetry_.processors_of(node);
            if (symmetry_.nodes_alike() && tasks_on_[first] == 0 && symmetry_.is_full(node)) {
                if (has_unused) continue;
                has_unused = true;
            }
            for (ProcessorIndex processor = first; processor < end; ++processor) {
                choices_.push_back(processor);
                if (symmetry_.alike_within(node) && tasks_on_[processor] == 0) break;
            }
        }
    }

    /// False where some task can no longer be in time for a better schedule.
    bool possible_moves(double last_start, std::vector<Move>& moves) {
        find_choices();
        for (const TaskIndex task : graph_.topological_order()) {
            if (placed_[task]) continue;
            double earliest = std::max(bounds_.from_start[task], last_start);
            if (missing_[task] == 0) {
                double first = std::numeric_limits<double>::infinity();
                for (const ProcessorIndex i : choices_) {
                    const double start = std::max(arrival(task, i), ends_[i]);
                    const double shift = costs_.time(task, i) - least_times_[task];
                    first = std::min(first, std::max(start, last_start) + shift);
                    const double length = start + shift + bounds_.to_end[task];
                    if (start < last_start || hopeless(length)) continue;
                    moves.push_back({length * -1, start + costs_.time(task, i), start, task, i});
                }
                earliest = std::max(earliest, first);
            } else {
                for (const TaskGraph::Link& link : graph_.predecessors(task)) {
                    const double end = placed_[link.task] ? slots_[link.task].finish
                                                          : earliest_[link.task] + least_times_[link.task];
                    earliest = std::max(earliest, end);
                }
            }
            earliest_[task] = earliest;
            if (hopeless(earliest + bounds_.to_end[task])) return false;
        }
        return true;
    }

    void place(TaskIndex placed, const Move& move) {
        const double end_before = ends_[move.processor];
        slots_[move.task] = {move.processor, move.start, move.finish};
        placed_[move.task] = true;
        ends_[move.processor] = move.finish;
        if (++tasks_on_[move.processor] == 1) used_.push_back(move.processor);
        work_left_ -= least_times_[move.task];
        for (const TaskGraph::Link& link : graph_.successors(move.task)) --missing_[link.task];
        for (const TaskGraph::Link& link : graph_.predecessors(move.task)) --open_successors_[link.task];

        visit(placed + 1, move.start);

        for (const TaskGraph::Link& link : graph_.predecessors(move.task)) ++open_successors_[link.task];
        for (const TaskGraph::Link& link : graph_.successors(move.task)) ++missing_[link.task];
        work_left_ += least_times_[move.task];
        if (--tasks_on_[move.processor] == 0) used_.pop_back();
        ends_[move.processor] = end_before;
        placed_[move.task] = false;
    }

    /// What decides the future: which tasks are placed, when processors are free, and for tasks whose data
    /// are still under way, where they ran and when. A processor that is free from the last start on, and has
    /// no such data, is like an unused one. Processors that are alike may be exchanged. Two hashes of 64
    /// bits.
    Key state(double last_start) {
        for (const ProcessorIndex processor : used_) {
            const auto bits = std::bit_cast<std::uint64_t>(ends_[processor]);
            const bool is_busy = ends_[processor] > last_start;
            processor_keys_[processor] = is_busy ? Key{mix(bits, 1), mix(bits, 2)} : Key{};
        }
        Key key{mix(std::bit_cast<std::uint64_t>(last_start), 3),
                mix(std::bit_cast<std::uint64_t>(last_start), 4)};
        for (TaskIndex task = 0; task < graph_.tasks(); ++task) {
            if (!placed_[task]) continue;
            key.a += mix(task, 5);
            key.b += mix(task, 6);
            if (open_successors_[task] == 0 || !under_way(task, last_start)) continue;
            const auto bits = std::bit_cast<std::uint64_t>(slots_[task].finish);
            processor_keys_[slots_[task].processor].a += mix(bits + task, 7);
            processor_keys_[slots_[task].processor].b += mix(bits + task, 8);
        }
        node_keys_.clear();
        in_nodes_.clear();
        for (const ProcessorIndex processor : used_) {
            Key own = processor_keys_[processor];
            if (own == Key{}) continue;
            const ProcessorIndex node = problem_.node(processor);
            if (!symmetry_.alike_within(node)) own.a = mix(own.a, processor);
            in_nodes_.emplace_back(node, own);
        }
        std::sort(in_nodes_.begin(), in_nodes_.end());
        for (std::size_t i = 0; i < in_nodes_.size();) {
            const ProcessorIndex node = in_nodes_[i].first;
            const bool is_like_others = symmetry_.nodes_alike() && symmetry_.is_full(node);
            Key all{is_like_others ? 0 : std::uint64_t{node} + 1, 0};
            for (; i < in_nodes_.size() && in_nodes_[i].first == node; ++i)
                all = {mix(all.a, in_nodes_[i].second.a), mix(all.b, in_nodes_[i].second.b)};
            node_keys_.push_back(all);
        }
        std::sort(node_keys_.begin(), node_keys_.end());
        for (const Key& node : node_keys_) key = {mix(key.a, node.a), mix(key.b, node.b)};
        return key;
    }

    bool under_way(TaskIndex task, double last_start) const {
        const TaskGraph::Link* const first = graph_.successors(0).data();
        for (const TaskGraph::Link& link : graph_.successors(task)) {
            const double delay = most_delays_[static_cast<std::size_t>(&link - first)];
            if (!placed_[link.task] && slots_[task].finish + delay > last_start) return true;
        }
        return false;
    }

    const Problem& problem_;
    const TaskGraph& graph_;
    const std::function<bool()>& out_of_time_;
    std::size_t nodes_left_;
    const bool whole_;
    const Symmetry symmetry_;
    const ProcessorIndex processors_;
    const Costs costs_;
    std::vector<double> least_times_;
    std::vector<double> most_delays_;  ///< of each link to a successor
    MessageBounds bounds_;
    double bound_ = 0;
    double best_length_;
    std::vector<Slot> best_;
    bool done_ = false, cut_off_ = false;

    std::vector<std::uint32_t> missing_, open_successors_;
    std::vector<Slot> slots_;
    std::vector<bool> placed_;
    std::vector<double> ends_;
    std::vector<TaskIndex> tasks_on_;
    std::vector<ProcessorIndex> used_;  ///< in the order of their first tasks
    std::vector<ProcessorIndex> choices_;
    std::vector<double> earliest_;
    double work_left_ = 0;
    Seen seen_;
    std::vector<Key> processor_keys_;  ///< of used ones
    std::vector<std::pair<ProcessorIndex, Key>> in_nodes_;
    std::vector<Key> node_keys_;
};

}  // namespace

Schedule search_exhaustively(const Problem& problem, const Schedule& known, std::size_t nodes_max,
                             const std::function<bool()>& out_of_time) {
    return BranchAndBound(problem, known, nodes_max, out_of_time).run(known);
}

}  // namespace heddle::schedulers
