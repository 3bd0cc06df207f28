// For tests: closed forms of the algorithms that work in groups of near ranks, of two and of three levels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/spmd_closed_form.hpp"

namespace heddle::spmd::testing_spmd {

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

}  // namespace heddle::spmd::testing_spmd
