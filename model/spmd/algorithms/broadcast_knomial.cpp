// Broadcast along a tree: a rank that has the array sends it to the roots of smaller and smaller subtrees.
// Radix 2: Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005,
// section 4.2. Any radix: the k-nomial tree of Pjesivac-Grbovic et al.: "Performance analysis of MPI
// collective operations", 2007, section 3. A higher radix has fewer latencies in a row, and a rank sends more
// messages.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void broadcast_knomial(const Call& call, Steps& steps) {
    const RankId number = call.from_root();
    const Tree<radix> tree(number, call.ranks);
    if (number > 0) steps.receive(call.before(tree.to_parent), whole(call, Array::output));
    tree.far_first([&](RankId distance, RankId /*size*/) {
        steps.send(call.after(distance), whole(call, Array::output));
    });
}

template void broadcast_knomial<2>(const Call&, Steps&);
template void broadcast_knomial<4>(const Call&, Steps&);
template void broadcast_knomial<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
