// For tests: closed forms of what the collective algorithms send and how long they take. They are those of
// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4. Here they are summed over the ranks, and extended to counts of ranks that are no power of two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "tests/spmd_level_forms.hpp"

namespace heddle::spmd::testing_spmd {

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
