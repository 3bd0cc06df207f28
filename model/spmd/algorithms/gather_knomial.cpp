// Gather along a tree: each rank collects the blocks of its subtree, and sends them to its parent in one
// message. Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.3. Any radix: a k-nomial tree.
#include "model/spmd/algorithms/block_trees.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void gather_knomial(const Call& call, Steps& steps) {
    const Tree<radix> tree(call.from_root(), call.ranks);
    if (call.rank == call.root) {
        steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    } else if (tree.size == 1) {
        return steps.send(call.before(tree.to_parent), whole(call, Array::input));
    } else {
        steps.reserve(tree.size * call.count);
        steps.copy(block(call, Array::scratch, 0), whole(call, Array::input));
    }
    gather_tree<radix>(call, alike(call, Array::output), steps);
}

template void gather_knomial<2>(const Call&, Steps&);
template void gather_knomial<4>(const Call&, Steps&);
template void gather_knomial<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
