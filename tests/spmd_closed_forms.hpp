// For tests: closed forms of what the collective algorithms send and how long they take. They are those of
// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4. Here they are summed over the ranks, and extended to counts of ranks that are no power of two.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/spmd_interpreter.hpp"

namespace heddle::spmd::testing_spmd {

/// What all ranks send together, and the time. p ranks; n: Task::count.
struct ClosedForm {
    using Sum = Sent (*)(std::uint64_t p, std::uint64_t n, const Task& task);
    using Duration = Cost (*)(std::uint64_t p, std::uint64_t n, const Task& task);

    Sum sent;
    Duration time;
    /// In a row, if messages of one rank travel together; 0: as many as `time` has.
    std::uint64_t (*latencies)(std::uint64_t p) = nullptr;
    /// Of `time`. Of ranks that act for two, how much each has depends on its place.
    bool powers_of_two_only = false;
};

inline std::uint64_t lg(std::uint64_t p) {  // rounded up
    return static_cast<std::uint64_t>(std::bit_width(p - 1));
}

/// A k-nomial tree, or rounds of radix k: e + 1 levels with e = floor(log_k (p-1)). The farthest one has
/// floor((p-1) / k^e) distances, each other one k-1.
template <std::uint64_t k>
struct Radix {
    static std::uint64_t levels(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t step = 1; step < p; step *= k) ++count;
        return count;
    }
    static std::uint64_t distances(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t step = 1; step < p; step *= k) count += std::min(k - 1, (p - 1) / step);
        return count;
    }
    /// Blocks that ranks other than the root have in their subtrees, all together.
    static std::uint64_t below_root(std::uint64_t p) {
        std::uint64_t blocks = 0;
        for (std::uint64_t v = 1; v < p; ++v) {
            std::uint64_t reach = 1;
            while (v / reach % k == 0) reach *= k;
            blocks += std::min(reach, p - v);
        }
        return blocks;
    }
    /// Digits other than 0 of the numbers below p.
    static std::uint64_t hops(std::uint64_t p) {
        std::uint64_t count = 0;
        for (std::uint64_t j = 0; j < p; ++j)
            for (std::uint64_t rest = j; rest > 0; rest /= k) count += rest % k > 0 ? 1 : 0;
        return count;
    }
};

/// q: the largest power of two up to p; r: how many ranks are too many.
struct Powers {
    explicit Powers(std::uint64_t p) : q(std::bit_floor(p)), r(p - q) {}

    /// Messages of ranks that exchange with each other in `rounds` rounds, and of those that left.
    std::uint64_t messages(std::uint64_t rounds) const { return q * rounds + 2 * r; }
    /// So many rounds in a row, and two more if ranks left.
    std::uint64_t in_a_row(std::uint64_t rounds) const { return rounds + (r > 0 ? 2 : 0); }
    bool leaves(RankId rank) const { return rank < 2 * r && rank % 2 == 0; }

    std::uint64_t q;
    std::uint64_t r;
};

inline Sent each(std::uint64_t messages, std::uint64_t n) {
    return {messages, messages * n};
}
inline Cost in_rounds(std::uint64_t count, std::uint64_t n) {
    return Cost::of(count, count * n);
}

inline std::uint64_t segments(std::uint64_t n, const Task& task) {
    return std::max<std::uint64_t>(1, (n + task.segment - 1) / task.segment);
}

using Forms = std::map<std::pair<Operation, std::string>, ClosedForm>;

/// What has a radix, which its name ends with if it is not 2. `tree`: the name of the trees.
template <std::uint64_t k>
Forms forms_of_radix(const std::string& tree, const std::string& end) {
    using Of = Radix<k>;
    return {
        {{Operation::barrier, "dissemination" + end},
         {[](auto p, auto, const auto&) { return each(p * Of::distances(p), 0); },
          [](auto p, auto, const auto&) { return in_rounds(Of::distances(p), 0); }, Of::levels}},
        {{Operation::broadcast, tree},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(Of::distances(p), n); }, Of::levels}},
        // If p is no power of two, in each round one rank less than it sends parts has them in two pieces.
        {{Operation::broadcast, "scatter_doubling" + end},
         {[](auto p, auto n, const auto&) -> Sent {
              const std::uint64_t pieces = std::has_single_bit(p) ? 0 : p - 1 - lg(p);
              return {(p - 1) + p * lg(p) + pieces, Of::below_root(p) * n / p + (p - 1) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(Of::distances(p) + lg(p), 2 * (p - 1) * n / p); },
          [](auto p) { return Of::levels(p) + lg(p); }}},
        // Children of one distance send at one time, and their bytes come one after the other.
        {{Operation::reduce, tree},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return Cost::of(Of::levels(p), Of::distances(p) * n); }}},
        {{Operation::all_reduce, "reduce_broadcast" + end},
         {[](auto p, auto n, const auto&) { return each(2 * (p - 1), n); },
          [](auto p, auto n, const auto&) {
              return Cost::of(Of::levels(p) + Of::distances(p), 2 * Of::distances(p) * n);
          },
          [](auto p) { return 2 * Of::levels(p); }}},
        {{Operation::all_gather, "gather_broadcast" + end},
         {[](auto p, auto n, const auto&) -> Sent {
              return {2 * (p - 1), Of::below_root(p) * n + (p - 1) * p * n};
          },
          [](auto p, auto n, const auto&) {
              return Cost::of(Of::levels(p) + Of::distances(p), (p - 1) * n + Of::distances(p) * p * n);
          },
          [](auto p) { return 2 * Of::levels(p); }}},
        {{Operation::gather, tree},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p - 1, Of::below_root(p) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(Of::levels(p), (p - 1) * n); }}},
        {{Operation::scatter, tree},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p - 1, Of::below_root(p) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(Of::distances(p), (p - 1) * n); }, Of::levels}},
        {{Operation::all_to_all, "bruck" + end},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p * Of::distances(p), p * Of::hops(p) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(Of::distances(p), Of::hops(p) * n); }}},
    };
}

inline Forms rooted_forms() {
    return {
        {{Operation::broadcast, "flat"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); },
          [](auto) -> std::uint64_t { return 1; }}},
        {{Operation::broadcast, "chain"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
        {{Operation::broadcast, "pipeline"},
         {[](auto p, auto n, const Task& task) -> Sent {
              return {(p - 1) * segments(n, task), (p - 1) * n};
          },
          [](auto p, auto n, const Task& task) {  // the segments divide n
              return in_rounds(p - 2 + segments(n, task), std::min<std::uint64_t>(n, task.segment));
          }}},
        // Parts of n/p: Radix<2>::below_root(p) of them in the scatter, if p divides n.
        {{Operation::broadcast, "scatter_allgather"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {(p - 1) + p * (p - 1), Radix<2>::below_root(p) * n / p + (p - 1) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p) + p - 1, 2 * (p - 1) * n / p); }}},
        // The root, if another rank acts for it, gets all from that one. Each rank that sends to the tree
        // sends half of the parts of those that are left.
        {{Operation::reduce, "rabenseifner"},
         {[](auto p, auto n, const Task& task) -> Sent {
              const auto [q, r] = Powers(p);
              const std::uint64_t more = Powers(p).leaves(task.root) ? 1 : 0;
              return {q * lg(q) + q - 1 + r + more, (q - 1) * n + lg(q) * (q / 2) * n / q + (r + more) * n};
          },
          [](auto p, auto n, const Task& task) {
              const auto [q, r] = Powers(p);
              const std::uint64_t more = (r > 0 ? 1U : 0U) + (Powers(p).leaves(task.root) ? 1U : 0U);
              return Cost::of(2 * lg(q) + more, 2 * (q - 1) * n / q + more * n);
          }}},
        {{Operation::reduce, "binomial_in_order"},
         {[](auto p, auto n, const Task& task) { return each(task.root == 0 ? p - 1 : p, n); },
          [](auto p, auto n, const Task& task) { return in_rounds(lg(p) + (task.root == 0 ? 0 : 1), n); }}},
    };
}

inline Forms reduction_forms() {
    return {
        {{Operation::all_reduce, "recursive_doubling"},
         {[](auto p, auto n, const auto&) { return each(Powers(p).messages(lg(Powers(p).q)), n); },
          [](auto p, auto n, const auto&) { return in_rounds(Powers(p).in_a_row(lg(Powers(p).q)), n); }}},
        // Parts of n/q, if q divides n.
        {{Operation::all_reduce, "rabenseifner"},
         {[](auto p, auto n, const auto&) -> Sent {
              const Powers powers(p);
              return {powers.messages(2 * lg(powers.q)), 2 * (powers.q - 1 + powers.r) * n};
          },
          [](auto p, auto n, const auto&) {
              const Powers powers(p);
              const std::uint64_t outside = powers.r > 0 ? 2 * n : 0;
              return Cost::of(powers.in_a_row(2 * lg(powers.q)), 2 * (powers.q - 1) * n / powers.q + outside);
          }}},
        {{Operation::all_reduce, "ring"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {2 * p * (p - 1), 2 * (p - 1) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(2 * (p - 1), 2 * (p - 1) * n / p); }}},
        {{Operation::reduce_scatter, "recursive_halving"},
         {[](auto p, auto n, const auto&) -> Sent {
              const auto [q, r] = Powers(p);
              return {Powers(p).messages(lg(q)), (q - 1) * p * n + r * p * n + r * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }, nullptr, true}},
        {{Operation::reduce_scatter, "ring"},
         {[](auto p, auto n, const auto&) { return each(p * (p - 1), n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
        {{Operation::scan, "recursive_doubling"},
         {[](auto p, auto n, const auto&) { return each(lg(p) * p - (std::bit_ceil(p) - 1), n); },
          [](auto p, auto n, const auto&) { return in_rounds(lg(p), n); }}},
        {{Operation::scan, "chain"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
    };
}

inline Forms exchange_forms() {
    return {
        {{Operation::all_gather, "ring"},
         {[](auto p, auto n, const auto&) { return each(p * (p - 1), n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
        {{Operation::all_gather, "recursive_doubling"},
         {[](auto p, auto n, const auto&) -> Sent {
              const auto [q, r] = Powers(p);
              return {Powers(p).messages(lg(q)), (q - 1) * p * n + r * n + r * p * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }, nullptr, true}},
        {{Operation::all_gather, "bruck"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p * lg(p), p * (p - 1) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }}},
        // A round in which a rank would meet itself passes, unless p is a power of two.
        {{Operation::all_to_all, "pairwise"},
         {[](auto p, auto n, const auto&) { return each(p * (p - 1), n); },
          [](auto p, auto n, const auto&) { return in_rounds(std::has_single_bit(p) ? p - 1 : p, n); }}},
        {{Operation::all_to_all, "ring"},
         {[](auto p, auto n, const auto&) { return each(p * (p - 1), n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
    };
}

/// What the levels of a call have: without groups each rank is one.
struct Shape {
    Shape(const Groups* groups, std::uint64_t p) : top(p) {
        if (groups) least = groups->least();
        for (; groups; groups = groups->above()) {
            for (RankId group = 0; group < groups->count(); ++group)
                blocks_below += ranks_each * Radix<2>::below_root(groups->size(group));
            ranks_each *= groups->size(0);
            rounds += lg(groups->size(0));
            top = groups->count();
            levels.emplace_back(groups->size(0), top);
        }
    }
    static Shape two(std::uint64_t p, const Task& task) {
        return {task.levels ? task.levels->two.get() : nullptr, p};
    }
    static Shape three(std::uint64_t p, const Task& task) {
        return {task.levels ? task.levels->three.get() : nullptr, p};
    }

    std::uint64_t top;               ///< leaders of the last level
    std::uint64_t least = 1;         ///< ranks of the smallest group
    std::uint64_t rounds = 0;        ///< of trees in groups, if all have as many ranks as the first one
    std::uint64_t ranks_each = 1;    ///< of a leader of the last level, if so
    std::uint64_t blocks_below = 0;  ///< in subtrees of trees in groups, if so
    std::vector<std::pair<std::uint64_t, std::uint64_t>> levels;  ///< members of a group, and groups
};

/// All-gather of a whole by parts of n/p: in messages, and elements that they have.
inline Sent doubling_sent(std::uint64_t p, std::uint64_t n) {
    return {p * lg(p) + (std::has_single_bit(p) ? 0 : p - 1 - lg(p)), (p - 1) * n};
}
/// A broadcast by scatter_doubling, of k parts of n/k.
inline Sent scatter_sent(std::uint64_t p, std::uint64_t n, std::uint64_t k) {
    const Sent spread = doubling_sent(p, n);
    return {k * (p - 1 + spread.messages), Radix<2>::below_root(p) * n / p + spread.elements};
}
inline Sent rabenseifner_sent(std::uint64_t p, std::uint64_t n, std::uint64_t k) {
    const Powers powers(p);
    return {k * powers.messages(2 * lg(powers.q)), 2 * (powers.q - 1 + powers.r) * n};
}
/// Besides, `ways` times each rank that is no leader has `k` messages with the whole array together.
inline Sent with_groups(const Sent& leaders, std::uint64_t others, std::uint64_t ways, std::uint64_t k,
                        std::uint64_t n) {
    return {leaders.messages + ways * k * others, leaders.elements + ways * others * n};
}
inline Cost operator+(const Cost& a, const Cost& b) {
    return {a.sum + b.sum};
}

using ShapeOf = Shape (*)(std::uint64_t p, const Task& task);

/// `shape`: of so many levels.
template <ShapeOf shape>
Forms forms_of_levels(const std::string& name) {
    return {
        {{Operation::barrier, name},
         {[](auto p, auto, const Task& task) {
              const Shape is = shape(p, task);
              return with_groups(each(is.top * lg(is.top), 0), p - is.top, 2, 1, 0);
          },
          [](auto p, auto, const Task& task) {
              const Shape is = shape(p, task);
              return in_rounds(2 * is.rounds + lg(is.top), 0);
          }}},
        {{Operation::broadcast, name},
         {[](auto p, auto n, const Task&) { return each(p - 1, n); },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              return in_rounds(is.rounds + lg(is.top), n);
          }}},
        {{Operation::reduce, name},
         {[](auto p, auto n, const Task&) { return each(p - 1, n); },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              return in_rounds(is.rounds + lg(is.top), n);
          }}},
        {{Operation::all_reduce, name},
         {[](auto p, auto n, const Task& task) {
              const std::uint64_t top = shape(p, task).top;
              const Powers powers(top);
              return with_groups(each(powers.messages(lg(powers.q)), n), p - top, 2, 1, n);
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              return in_rounds(2 * is.rounds + Powers(is.top).in_a_row(lg(Powers(is.top).q)), n);
          }}},
        {{Operation::all_reduce, name + "_rabenseifner"},
         {[](auto p, auto n, const Task& task) {
              const std::uint64_t top = shape(p, task).top;
              return with_groups(rabenseifner_sent(top, n, 1), p - top, 2, 1, n);
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              const Powers powers(is.top);
              const std::uint64_t outside = powers.r > 0 ? 2 * n : 0;
              return in_rounds(2 * is.rounds, n) +
                     Cost::of(powers.in_a_row(2 * lg(powers.q)), 2 * (powers.q - 1) * n / powers.q + outside);
          }}},
        {{Operation::all_gather, name},
         {[](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              Sent sent = with_groups(doubling_sent(is.top, p * n), p - is.top, 1, 1, p * n);
              return Sent{sent.messages + p - is.top, sent.elements + is.blocks_below * n};
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              return Cost::of(is.rounds + lg(is.top), (p - 1) * n) + in_rounds(is.rounds, p * n);
          }}},
    };
}

/// Time only without groups: with them it depends on which of a rank's messages wait for which.
template <std::uint64_t k>
Forms forms_of_leaders(const std::string& end) {
    return {
        {{Operation::broadcast, "two_level_leaders" + end},
         {[](auto p, auto n, const Task& task) {
              const Shape is = Shape::two(p, task);
              const std::uint64_t leaders = std::min(k, is.least);
              return with_groups(scatter_sent(is.top, n, leaders), p - is.top, 1, leaders, n);
          },
          [](auto p, auto n, const Task&) { return Cost::of(2 * lg(p), 2 * (p - 1) * n / p); }}},
        {{Operation::all_reduce, "two_level_leaders" + end},
         {[](auto p, auto n, const Task& task) {
              const Shape is = Shape::two(p, task);
              const std::uint64_t leaders = std::min(k, is.least);
              return with_groups(rabenseifner_sent(is.top, n, leaders), p - is.top, 2, leaders, n);
          },
          [](auto p, auto n, const Task& task) {
              return forms_of_levels<Shape::two>("")
                  .at({Operation::all_reduce, "_rabenseifner"})
                  .time(p, n, task);
          }}},
    };
}

/// Of operations whose ranks have blocks, and of scan. Groups of one level have as many members each.
template <ShapeOf shape>
Forms forms_of_blocks(const std::string& name) {
    const auto blocks_sent = [](auto p, auto n, const Task& task) -> Sent {
        const Shape is = shape(p, task);
        return {p - 1, (is.blocks_below + is.ranks_each * Radix<2>::below_root(is.top)) * n};
    };
    const auto blocks_time = [](auto p, auto n, const Task& task) {
        const Shape is = shape(p, task);
        return Cost::of(is.rounds + lg(is.top), (p - 1) * n);
    };
    return {
        {{Operation::gather, name}, {blocks_sent, blocks_time}},
        {{Operation::scatter, name}, {blocks_sent, blocks_time}},
        // Each level: by doubling in groups, and the sum before a group to its members.
        {{Operation::scan, name},
         {[](auto p, auto n, const Task& task) {
              const auto doubling = [](std::uint64_t ranks) {
                  return lg(ranks) * ranks - (std::bit_ceil(ranks) - 1);
              };
              const Shape is = shape(p, task);
              std::uint64_t messages = doubling(is.top);
              for (const auto& [size, count] : is.levels)
                  messages += count * doubling(size) + (count - 1) * (size - 1);
              return each(messages, n);
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              std::uint64_t rounds = is.rounds + lg(is.top);
              for (const auto& [size, count] : is.levels) rounds += count > 1 ? lg(size) : 0;
              return in_rounds(rounds, n);
          }}},
        {{Operation::reduce_scatter, name},
         {[](auto p, auto n, const Task& task) -> Sent {
              const Shape is = shape(p, task);
              return {2 * (p - is.top) + is.top * (is.top - 1),
                      ((p - is.top) * p + (is.top - 1) * p + is.blocks_below) * n};
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              return in_rounds(is.rounds, p * n) + in_rounds(is.top - 1, is.ranks_each * n) +
                     Cost::of(is.rounds, (is.ranks_each - 1) * n);
          }}},
        // Members send at one time.
        {{Operation::all_to_all, name},
         {[](auto p, auto n, const Task& task) -> Sent {
              const Shape is = shape(p, task);
              std::uint64_t elements = p * p - p * is.ranks_each;
              std::uint64_t ranks = 1;  // of a member
              for (const auto& [size, count] : is.levels) {
                  elements += 2 * count * (size - 1) * ranks * p;
                  ranks *= size;
              }
              return {2 * (p - is.top) + is.top * (is.top - 1), elements * n};
          },
          [](auto p, auto n, const Task& task) {
              const Shape is = shape(p, task);
              const std::uint64_t rounds = std::has_single_bit(is.top) ? is.top - 1 : is.top;
              Cost cost = in_rounds(rounds, is.ranks_each * is.ranks_each * n);
              std::uint64_t ranks = 1;
              for (const auto& [size, count] : is.levels) {
                  const std::uint64_t others = size - 1;
                  cost = cost + Cost::of(others > 0 ? 1 : 0, others * ranks * p * n) +
                         in_rounds(others, ranks * p * n);
                  ranks *= size;
              }
              return cost;
          }}},
    };
}

inline Forms level_forms() {
    Forms forms = forms_of_levels<Shape::two>("two_level");
    forms.merge(forms_of_blocks<Shape::two>("two_level"));
    forms.merge(forms_of_levels<Shape::three>("three_level"));
    forms.merge(forms_of_blocks<Shape::three>("three_level"));
    forms.merge(forms_of_leaders<2>("_2"));
    forms.merge(forms_of_leaders<4>("_4"));
    forms.merge(forms_of_leaders<8>("_8"));
    forms[{Operation::broadcast, "two_level_scatter"}] = {
        [](auto p, auto n, const Task& task) {
            const std::uint64_t top = Shape::two(p, task).top;
            return with_groups(scatter_sent(top, n, 1), p - top, 1, 1, n);
        },
        [](auto p, auto n, const Task& task) {
            const Shape is = Shape::two(p, task);
            return Cost::of(2 * lg(is.top), 2 * (is.top - 1) * n / is.top) + in_rounds(is.rounds, n);
        }};
    return forms;
}

/// Of every algorithm.
inline const Forms& closed_forms() {
    static const Forms all = [] {
        Forms forms = rooted_forms();
        forms.merge(forms_of_radix<2>("binomial", ""));
        forms.merge(forms_of_radix<4>("knomial_4", "_4"));
        forms.merge(forms_of_radix<8>("knomial_8", "_8"));
        forms.merge(reduction_forms());
        forms.merge(exchange_forms());
        forms.merge(level_forms());
        return forms;
    }();
    return all;
}

/// In a row, if messages of one rank travel together.
inline std::uint64_t latencies(const ClosedForm& form, const Task& task) {
    return form.latencies ? form.latencies(task.ranks)
                          : form.time(task.ranks, task.count, task).sum / Cost::a;
}

inline const ClosedForm& closed_form(const Algorithm& algorithm) {
    return closed_forms().at({algorithm.operation, algorithm.name});
}

}  // namespace heddle::spmd::testing_spmd
