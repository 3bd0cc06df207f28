// Scatter along a tree: each rank gets the blocks of its subtree in one message, keeps its own and sends the
// others on. Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.2. Any radix: a k-nomial tree.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The blocks of a child are sent from where they are, unless they pass the end of the array.
template <RankId radix>
void scatter_at_root(const Call& call, const Tree<radix>& tree, Steps& steps) {
    tree.far_first([&](RankId distance, RankId size) {
        const RankId begin = call.after(distance);
        if (size <= call.ranks - begin)
            return steps.send(begin, blocks(call, Array::input, begin, begin + size));
        const RankId to_end = call.ranks - begin;
        steps.reserve(size * call.count);
        steps.copy(blocks(call, Array::scratch, 0, to_end), blocks(call, Array::input, begin, call.ranks));
        steps.copy(blocks(call, Array::scratch, to_end, size), blocks(call, Array::input, 0, size - to_end));
        steps.send(begin, blocks(call, Array::scratch, 0, size));
    });
    steps.copy(whole(call, Array::output), block(call, Array::input, call.rank));
}

}  // namespace

template <RankId radix>
void scatter_knomial(const Call& call, Steps& steps) {
    const Tree<radix> tree(call.from_root(), call.ranks);
    if (call.rank == call.root) return scatter_at_root(call, tree, steps);
    if (tree.size == 1) return steps.receive(call.before(tree.to_parent), whole(call, Array::output));
    steps.reserve(tree.size * call.count);
    steps.receive(call.before(tree.to_parent), blocks(call, Array::scratch, 0, tree.size));
    tree.far_first([&](RankId distance, RankId size) {
        steps.send(call.after(distance), blocks(call, Array::scratch, distance, distance + size));
    });
    steps.copy(whole(call, Array::output), block(call, Array::scratch, 0));
}

template void scatter_knomial<2>(const Call&, Steps&);
template void scatter_knomial<4>(const Call&, Steps&);
template void scatter_knomial<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
