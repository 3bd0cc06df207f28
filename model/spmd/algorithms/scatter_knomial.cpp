// Scatter along a tree: each rank gets the blocks of its subtree in one message, keeps its own and sends the
// others on. Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.2. Any radix: a k-nomial tree.
#include "model/spmd/algorithms/block_trees.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void scatter_knomial(const Call& call, Steps& steps) {
    const Tree<radix> tree(call.from_root(), call.ranks);
    const bool is_root = call.rank == call.root;
    if (!is_root && tree.size == 1)
        return steps.receive(call.before(tree.to_parent), whole(call, Array::output));
    if (!is_root) steps.reserve(tree.size * call.count);
    scatter_tree<radix>(call, alike(call, Array::input), steps);
    steps.copy(whole(call, Array::output),
               is_root ? block(call, Array::input, call.rank) : block(call, Array::scratch, 0));
}

template void scatter_knomial<2>(const Call&, Steps&);
template void scatter_knomial<4>(const Call&, Steps&);
template void scatter_knomial<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
