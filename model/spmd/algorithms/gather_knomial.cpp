// Gather along a tree: each rank collects the blocks of its subtree, and sends them to its parent in one
// message. Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.3. Any radix: a k-nomial tree.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The root's children: their blocks go where they belong, unless they pass the end of the array.
template <RankId radix>
void gather_at_root(const Call& call, const Tree<radix>& tree, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    tree.near_first([&](RankId distance, RankId size) {
        const RankId begin = call.after(distance);
        if (size <= call.ranks - begin)
            return steps.receive(begin, blocks(call, Array::output, begin, begin + size));
        const RankId to_end = call.ranks - begin;
        steps.reserve(size * call.count);
        steps.receive(begin, blocks(call, Array::scratch, 0, size));
        steps.copy(blocks(call, Array::output, begin, call.ranks), blocks(call, Array::scratch, 0, to_end));
        steps.copy(blocks(call, Array::output, 0, size - to_end), blocks(call, Array::scratch, to_end, size));
    });
}

}  // namespace

template <RankId radix>
void gather_knomial(const Call& call, Steps& steps) {
    const Tree<radix> tree(call.from_root(), call.ranks);
    if (call.rank == call.root) return gather_at_root(call, tree, steps);
    if (tree.size == 1) return steps.send(call.before(tree.to_parent), whole(call, Array::input));
    steps.reserve(tree.size * call.count);
    steps.copy(block(call, Array::scratch, 0), whole(call, Array::input));
    tree.near_first([&](RankId distance, RankId size) {
        steps.receive(call.after(distance), blocks(call, Array::scratch, distance, distance + size));
    });
    steps.send(call.before(tree.to_parent), blocks(call, Array::scratch, 0, tree.size));
}

template void gather_knomial<2>(const Call&, Steps&);
template void gather_knomial<4>(const Call&, Steps&);
template void gather_knomial<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
