// The algorithms, each in its file, and what several of them share.
#pragma once

#include <algorithm>
#include <bit>

#include "model/spmd/steps.hpp"

namespace heddle::spmd::algorithms {

using Function = void(const Call& call, Steps& steps);

Function barrier_dissemination;
Function broadcast_flat, broadcast_chain, broadcast_pipeline, broadcast_binomial, broadcast_scatter_allgather;
Function reduce_binomial, reduce_binomial_in_order;
Function all_reduce_recursive_doubling, all_reduce_rabenseifner, all_reduce_ring;
Function reduce_scatter_recursive_halving, reduce_scatter_ring;
Function scan_recursive_doubling, scan_chain;
Function gather_binomial, scatter_binomial;
Function all_gather_ring, all_gather_recursive_doubling, all_gather_bruck;
Function all_to_all_pairwise, all_to_all_ring, all_to_all_bruck;

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
    RankId number() const { return in_pair() ? call_.rank / 2 : call_.rank - pairs_; }
    RankId rank(RankId number) const { return number < pairs_ ? 2 * number + 1 : number + pairs_; }
    /// The first rank that the one of this number acts for.
    RankId first(RankId number) const { return number < pairs_ ? 2 * number : number + pairs_; }

private:
    bool in_pair() const { return call_.rank < 2 * pairs_; }

    const Call& call_;
    RankId ranks_;
    RankId pairs_;
};

/// A binomial tree over ranks numbered from its root on: the one numbered v has the subtree of the next
/// `size` ones, v first, and children at v + 1, v + 2, v + 4, ... in it.
struct Binomial {
    explicit Binomial(RankId number, RankId ranks)
        : reach(number == 0 ? std::bit_ceil(ranks) : number & (~number + 1)),
          size(std::min(reach, ranks - number)) {}

    RankId size_of_child(RankId distance) const { return std::min(distance, size - distance); }

    RankId reach;  ///< to the parent; a power of two
    RankId size;
};

/// An all-gather around the ring: the rank numbered so has the part of its number.
template <class PartRange>
void go_around(const Call& call, RankId number, Steps& steps, const PartRange& part) {
    for (RankId round = 0; round + 1 < call.ranks; ++round) {
        steps.send(call.after(1), part((number + call.ranks - round) % call.ranks));
        steps.receive(call.before(1), part((number + 2 * call.ranks - round - 1) % call.ranks));
    }
}

inline Comes comes_from(RankId other, RankId own) {
    return other < own ? Comes::left : Comes::right;
}

}  // namespace heddle::spmd::algorithms
