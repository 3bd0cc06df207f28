// Declares the algorithms of collective operations, each in a file of its own, and what several of them
// share.
#pragma once

#include <algorithm>
#include <bit>

#include "model/spmd/steps.hpp"

namespace heddle::spmd::algorithms {

using Function = void(const Call& call, Steps& steps);

Function broadcast_flat, broadcast_chain, broadcast_pipeline, broadcast_scatter_allgather;
Function reduce_binomial_in_order, reduce_rabenseifner;
Function all_reduce_recursive_doubling, all_reduce_rabenseifner, all_reduce_ring;
Function reduce_scatter_recursive_halving, reduce_scatter_ring;
Function scan_recursive_doubling, scan_chain;
Function all_gather_ring, all_gather_recursive_doubling, all_gather_bruck;
Function all_to_all_pairwise, all_to_all_ring;

// Of two and of three levels (levels.hpp).
template <int levels>
void barrier_levels(const Call& call, Steps& steps);
template <int levels>
void reduce_levels(const Call& call, Steps& steps);
template <int levels>
void reduce_scatter_levels(const Call& call, Steps& steps);
template <int levels>
void scan_levels(const Call& call, Steps& steps);
template <int levels>
void gather_levels(const Call& call, Steps& steps);
template <int levels>
void scatter_levels(const Call& call, Steps& steps);
template <int levels>
void all_gather_levels(const Call& call, Steps& steps);
template <int levels>
void all_to_all_levels(const Call& call, Steps& steps);
/// `among`: that of the last level's leaders.
template <int levels, Function among>
void broadcast_levels(const Call& call, Steps& steps);
template <int levels, Function among>
void all_reduce_levels(const Call& call, Steps& steps);
// With several leaders.
template <RankId leaders>
void broadcast_leaders(const Call& call, Steps& steps);
template <RankId leaders>
void all_reduce_leaders(const Call& call, Steps& steps);

// For the radices that the end of each one's file names. Those of radix 2 have names of their own in the
// table.
template <RankId radix>
void barrier_dissemination(const Call& call, Steps& steps);
template <RankId radix>
void broadcast_knomial(const Call& call, Steps& steps);
template <RankId radix>
void broadcast_scatter_doubling(const Call& call, Steps& steps);
template <RankId radix>
void reduce_knomial(const Call& call, Steps& steps);
template <RankId radix>
void all_reduce_reduce_broadcast(const Call& call, Steps& steps);
template <RankId radix>
void all_gather_gather_broadcast(const Call& call, Steps& steps);
template <RankId radix>
void gather_knomial(const Call& call, Steps& steps);
template <RankId radix>
void scatter_knomial(const Call& call, Steps& steps);
template <RankId radix>
void all_to_all_bruck(const Call& call, Steps& steps);

/// `count` elements in `parts` parts whose sizes differ by one at most; those of parts first to last - 1.
class Parts {
public:
    Parts(Index count, RankId parts) : count_(count), parts_(parts) {}

    Range range(Array array, RankId first, RankId last) const {
        return {array, begin(first), begin(last) - begin(first)};
    }
    Range range(Array array, RankId part) const { return range(array, part, part + 1); }

private:
    Index begin(RankId part) const { return count_ / parts_ * part + std::min<Index>(part, count_ % parts_); }

    Index count_;
    RankId parts_;
};

/// Blocks first to last - 1 of `count` elements each.
inline Range blocks(const Call& call, Array array, RankId first, RankId last) {
    return {array, first * call.count, (last - first) * call.count};
}
inline Range block(const Call& call, Array array, RankId which) {
    return blocks(call, array, which, which + 1);
}
inline Range whole(const Call& call, Array array) {
    return {array, 0, call.count};
}

/// For algorithms whose ranks are a power of two: of the first 2r ranks, with r as many as are too many, each
/// even one leaves its part to the next one (Thakur, Rabenseifner, Gropp: "Optimization of collective
/// communication operations in MPICH", 2005, section 4.5). The rest are numbered again, in their order; so
/// consecutive new numbers are for consecutive ranks.
class Folded {
public:
    explicit Folded(const Call& call)
        : call_(call), ranks_(std::bit_floor(call.ranks)), pairs_(call.ranks - ranks_) {}

    /// How many are left.
    RankId ranks() const { return ranks_; }
    bool leaves() const { return in_pair() && call_.rank % 2 == 0; }
    bool stays_for_other() const { return in_pair() && call_.rank % 2 == 1; }
    /// The new number of this rank, which does not leave.
    RankId number() const { return number_of(call_.rank); }
    /// Of the rank that acts for this one.
    RankId number_of(RankId rank) const { return rank < 2 * pairs_ ? rank / 2 : rank - pairs_; }
    RankId rank(RankId number) const { return number < pairs_ ? 2 * number + 1 : number + pairs_; }
    /// The first rank that the one of this number acts for.
    RankId first(RankId number) const { return number < pairs_ ? 2 * number : number + pairs_; }

private:
    bool in_pair() const { return call_.rank < 2 * pairs_; }

    const Call& call_;
    RankId ranks_;
    RankId pairs_;
};

/// A k-nomial tree, k the radix, over ranks numbered from its root on: the one numbered v has the subtree of
/// the next `size` ones, v first, and children at v + j d, with j < k and d = 1, k, k^2, ..., in it.
template <RankId radix>
struct Tree {
    Tree(RankId number, RankId ranks) {
        while (number == 0 ? reach < ranks : number / reach % radix == 0) reach *= radix;
        size = std::min(reach, ranks - number);
        to_parent = number / reach % radix * reach;
    }

    /// Calls `child(distance, size of its subtree)`: near children first, as their numbers grow.
    template <class Child>
    void near_first(const Child& child) const {
        for (RankId step = 1; step < size; step *= radix) with_step(step, child);
    }
    /// Those with the largest subtrees first.
    template <class Child>
    void far_first(const Child& child) const {
        for (RankId step = reach / radix; step > 0; step /= radix) with_step(step, child);
    }

    RankId reach = 1;  ///< a power of the radix
    RankId size = 0;
    RankId to_parent = 0;

private:
    template <class Child>
    void with_step(RankId step, const Child& child) const {
        for (RankId distance = step; distance < std::min(size, radix * step); distance += step)
            child(distance, std::min(step, size - distance));
    }
};

/// Combines arrays towards the rank numbered 0, whose result is in `target`; others may have it in scratch.
template <RankId radix>
void combine_up(const Call& call, RankId number, const Range& target, Steps& steps) {
    const Range input = whole(call, Array::input);
    const Tree<radix> tree(number, call.ranks);
    if (tree.size == 1) {
        if (number == 0) return steps.copy(target, input);
        return steps.send(call.before(tree.to_parent), input);
    }
    if (target.array == Array::scratch) steps.reserve(call.count);
    steps.copy(target, input);
    tree.near_first(
        [&](RankId distance, RankId /*size*/) { steps.combine(call.after(distance), target, Comes::right); });
    if (number > 0) steps.send(call.before(tree.to_parent), target);
}

/// The parts of an array from the root's to each rank's of the same number, down a tree.
template <RankId radix>
void scatter_parts(const Call& call, const Parts& parts, Steps& steps) {
    const RankId number = call.from_root();
    const Tree<radix> tree(number, call.ranks);
    if (number > 0)
        steps.receive(call.before(tree.to_parent), parts.range(Array::output, number, number + tree.size));
    tree.far_first([&](RankId distance, RankId size) {
        const RankId child = number + distance;
        steps.send(call.after(distance), parts.range(Array::output, child, child + size));
    });
}

/// An all-gather around the ring: the rank numbered so has the part of its number.
template <class PartRange>
void go_around(const Call& call, RankId number, Steps& steps, const PartRange& part) {
    for (RankId round = 0; round + 1 < call.ranks; ++round) {
        steps.send(call.after(1), part((number + call.ranks - round) % call.ranks));
        steps.receive(call.before(1), part((number + 2 * call.ranks - round - 1) % call.ranks));
    }
}

/// An all-gather in lg p rounds, numbered from the root on: `part(first, last)` are those of the ranks
/// numbered first to last - 1, all in one range. If the ranks are a power of two, pairs exchange all that
/// they have. Else in each round a rank sends what it has to the one that many before it: two ranges, if it
/// has the last part and the first one.
template <class Part>
void gather_doubling(const Call& call, const Part& part, Steps& steps) {
    const RankId number = call.from_root();
    const bool pairs = std::has_single_bit(call.ranks);
    const auto around = [&](RankId first, RankId size, const auto& piece) {
        const RankId to_end = std::min(size, call.ranks - first);
        piece(part(first, first + to_end));
        if (to_end < size) piece(part(0, size - to_end));
    };
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        if (pairs) {
            const RankId other = number ^ distance;
            const auto group = [&](RankId of) {
                const RankId begin = of / distance * distance;
                return part(begin, begin + distance);
            };
            steps.send(call.of_root(other), group(number));
            steps.receive(call.of_root(other), group(other));
            continue;
        }
        const RankId size = std::min(distance, call.ranks - distance);
        around(number, size, [&](const Range& own) { steps.send(call.before(distance), own); });
        around((number + distance) % call.ranks, size,
               [&](const Range& other) { steps.receive(call.after(distance), other); });
    }
}

inline Comes comes_from(RankId other, RankId own) {
    return other < own ? Comes::left : Comes::right;
}

/// Vector halving with distance doubling: values are combined in the order of the ranks. Returns the part, of
/// as many as there are ranks, that this rank then has combined.
inline RankId combine_halves(const Folded& folded, const Parts& parts, Array array, Steps& steps) {
    const RankId number = folded.number();
    RankId first = 0;  // this rank combines `size` parts from here on
    RankId size = folded.ranks();
    for (RankId distance = 1; distance < folded.ranks(); distance *= 2) {
        const RankId other = number ^ distance;
        size /= 2;
        const bool lower = other > number;
        const RankId given = lower ? first + size : first;
        if (!lower) first += size;
        steps.send(folded.rank(other), parts.range(array, given, given + size));
        steps.combine(folded.rank(other), parts.range(array, first, first + size), comes_from(other, number));
    }
    return first;
}

}  // namespace heddle::spmd::algorithms
