// Reduction along a tree: each rank combines its array with those of its subtrees, and sends the result to
// its parent. Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.4. Any radix: the k-nomial tree of Pjesivac-Grbovic et al.: "Performance analysis
// of MPI collective operations", 2007, section 3. A tree from the root on combines in the order of the ranks
// around the ring. A tree from rank 0 on combines in the order of the ranks. It gives the same bits for each
// root, and costs one more message.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void reduce_knomial(const Call& call, Steps& steps) {
    const bool root = call.rank == call.root;
    combine_up<radix>(call, call.from_root(), whole(call, root ? Array::output : Array::scratch), steps);
}

template void reduce_knomial<2>(const Call&, Steps&);
template void reduce_knomial<4>(const Call&, Steps&);
template void reduce_knomial<8>(const Call&, Steps&);

void reduce_binomial_in_order(const Call& call, Steps& steps) {
    const bool last = call.rank == 0 && call.root == 0;
    combine_up<2>(call, call.rank, whole(call, last ? Array::output : Array::scratch), steps);
    if (call.root == 0) return;
    if (call.rank == 0) steps.send(call.root, whole(call, Array::scratch));
    if (call.rank == call.root) steps.receive(0, whole(call, Array::output));
}

}  // namespace heddle::spmd::algorithms
