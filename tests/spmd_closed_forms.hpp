// What the algorithms send and how long they take, in closed form: Thakur, Rabenseifner, Gropp: "Optimization
// of collective communication operations in MPICH", 2005, section 4, summed over the ranks, and for counts of
// ranks that are no power of two.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/spmd_interpreter.hpp"

namespace heddle::spmd::testing_spmd {

/// What all ranks send together, and the time. p ranks; n: Task::count.
struct ClosedForm {
    using Sum = Sent (*)(std::uint64_t p, std::uint64_t n, const Task& task);
    using Duration = Cost (*)(std::uint64_t p, std::uint64_t n, const Task& task);

    Sum sent;
    Duration time;
    /// Of `time`. Of ranks that act for two, how much each has depends on its place.
    bool powers_of_two_only = false;
};

inline std::uint64_t lg(std::uint64_t p) {  // rounded up
    return static_cast<std::uint64_t>(std::bit_width(p - 1));
}

/// Blocks that ranks other than the root have in their subtrees, all together.
inline std::uint64_t below_root(std::uint64_t p) {
    std::uint64_t blocks = 0;
    for (std::uint64_t v = 1; v < p; ++v) blocks += std::min(v & (~v + 1), p - v);
    return blocks;
}

/// q: the largest power of two up to p; r: how many ranks are too many.
struct Powers {
    explicit Powers(std::uint64_t p) : q(std::bit_floor(p)), r(p - q) {}

    /// Messages of ranks that exchange with each other in `rounds` rounds, and of those that left.
    std::uint64_t messages(std::uint64_t rounds) const { return q * rounds + 2 * r; }
    /// So many rounds in a row, and two more if ranks left.
    std::uint64_t in_a_row(std::uint64_t rounds) const { return rounds + (r > 0 ? 2 : 0); }

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

inline Forms rooted_forms() {
    return {
        {{Operation::barrier, "dissemination"},
         {[](auto p, auto, const auto&) { return each(p * lg(p), 0); },
          [](auto p, auto, const auto&) { return in_rounds(lg(p), 0); }}},
        {{Operation::broadcast, "binomial"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(lg(p), n); }}},
        {{Operation::broadcast, "flat"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(p - 1, n); }}},
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
        // Parts of n/p: below_root(p) of them in the scatter, if p divides n.
        {{Operation::broadcast, "scatter_allgather"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {(p - 1) + p * (p - 1), below_root(p) * n / p + (p - 1) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p) + p - 1, 2 * (p - 1) * n / p); }}},
        {{Operation::reduce, "binomial"},
         {[](auto p, auto n, const auto&) { return each(p - 1, n); },
          [](auto p, auto n, const auto&) { return in_rounds(lg(p), n); }}},
        {{Operation::reduce, "binomial_in_order"},
         {[](auto p, auto n, const Task& task) { return each(task.root == 0 ? p - 1 : p, n); },
          [](auto p, auto n, const Task& task) { return in_rounds(lg(p) + (task.root == 0 ? 0 : 1), n); }}},
        {{Operation::gather, "binomial"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p - 1, below_root(p) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }}},
        {{Operation::scatter, "binomial"},
         {[](auto p, auto n, const auto&) -> Sent {
              return {p - 1, below_root(p) * n};
          },
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }}},
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
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }, true}},
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
          [](auto p, auto n, const auto&) { return Cost::of(lg(p), (p - 1) * n); }, true}},
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
        // A block makes a hop for each one in the binary digits of its distance: p/2 blocks a round, if p is
        // a power of two.
        {{Operation::all_to_all, "bruck"},
         {[](auto p, auto n, const auto&) -> Sent {
              std::uint64_t hops = 0;
              for (std::uint64_t j = 0; j < p; ++j) hops += static_cast<std::uint64_t>(std::popcount(j));
              return {p * lg(p), p * hops * n};
          },
          [](auto p, auto n, const auto&) {
              std::uint64_t hops = 0;
              for (std::uint64_t j = 0; j < p; ++j) hops += static_cast<std::uint64_t>(std::popcount(j));
              return Cost::of(lg(p), hops * n);
          }}},
    };
}

/// Of every algorithm.
inline const Forms& closed_forms() {
    static const Forms all = [] {
        Forms forms = rooted_forms();
        forms.merge(reduction_forms());
        forms.merge(exchange_forms());
        return forms;
    }();
    return all;
}

inline const ClosedForm& closed_form(const Algorithm& algorithm) {
    return closed_forms().at({algorithm.operation, algorithm.name});
}

}  // namespace heddle::spmd::testing_spmd
