// Gather and scatter along a tree whose ranks have blocks of any sizes: the ranks of a call, or the leaders
// of groups with the blocks of their groups.
#pragma once

#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

/// The blocks of the ranks of a tree. The root has them in `home`, in the order of the ranks. Each other rank
/// has those of its subtree from the beginning of its scratch on, in the order of the numbers from the root
/// on.
template <class Before>
struct TreeBlocks {
    Before before;  ///< elements of the ranks with smaller numbers; of the number of ranks: all
    Range home;
    Index at_root;  ///< where in `home` the root's own block begins

    Index between(RankId first, RankId last) const { return before(last) - before(first); }
    /// Of the ranks numbered first to last - 1, in `home`: `whole(range)`, or if they pass its end
    /// `split(range to the end, range from the begin)`.
    template <class Whole, class Split>
    void at_home(RankId first, RankId last, const Whole& whole, const Split& split) const {
        const Index size = between(first, last);
        Index begin = at_root + before(first);
        if (begin >= home.count && begin > 0) begin -= home.count;
        const Index to_end = home.count - begin;
        if (size <= to_end) return whole(Range{home.array, home.begin + begin, size});
        split(Range{home.array, home.begin + begin, to_end}, Range{home.array, home.begin, size - to_end});
    }
};
template <class Before>
TreeBlocks(Before, Range, Index) -> TreeBlocks<Before>;

/// Blocks of one size, that of the call, in its ranks' order.
inline auto alike(const Call& call, Array home) {
    return TreeBlocks{[n = call.count](RankId number) { return number * n; },
                      blocks(call, home, 0, call.ranks), call.root * call.count};
}

/// Each rank's own block is there already.
template <RankId radix, class Before>
void gather_tree(const Call& call, const TreeBlocks<Before>& of, Steps& steps) {
    const RankId number = call.from_root();
    const Tree<radix> tree(number, call.ranks);
    tree.near_first([&](RankId distance, RankId size) {
        const RankId child = number + distance;
        const RankId rank = call.after(distance);
        if (number > 0)
            return steps.receive(
                rank, {Array::scratch, of.between(number, child), of.between(child, child + size)});
        of.at_home(
            child, child + size, [&](const Range& place) { steps.receive(rank, place); },
            [&](const Range& to_end, const Range& rest) {
                steps.reserve(to_end.count + rest.count);
                steps.receive(rank, {Array::scratch, 0, to_end.count + rest.count});
                steps.copy(to_end, {Array::scratch, 0, to_end.count});
                steps.copy(rest, {Array::scratch, to_end.count, rest.count});
            });
    });
    if (number > 0)
        steps.send(call.before(tree.to_parent), {Array::scratch, 0, of.between(number, number + tree.size)});
}

/// A rank other than the root has room in its scratch, and gets its own block there.
template <RankId radix, class Before>
void scatter_tree(const Call& call, const TreeBlocks<Before>& of, Steps& steps) {
    const RankId number = call.from_root();
    const Tree<radix> tree(number, call.ranks);
    if (number > 0)
        steps.receive(call.before(tree.to_parent),
                      {Array::scratch, 0, of.between(number, number + tree.size)});
    tree.far_first([&](RankId distance, RankId size) {
        const RankId child = number + distance;
        const RankId rank = call.after(distance);
        if (number > 0)
            return steps.send(rank,
                              {Array::scratch, of.between(number, child), of.between(child, child + size)});
        of.at_home(
            child, child + size, [&](const Range& place) { steps.send(rank, place); },
            [&](const Range& to_end, const Range& rest) {
                steps.reserve(to_end.count + rest.count);
                steps.copy({Array::scratch, 0, to_end.count}, to_end);
                steps.copy({Array::scratch, to_end.count, rest.count}, rest);
                steps.send(rank, {Array::scratch, 0, to_end.count + rest.count});
            });
    });
}

}  // namespace heddle::spmd::algorithms
