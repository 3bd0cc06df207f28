// Broadcast by a k-nomial scatter of the array's parts, then an all-gather in few rounds. If the ranks are a
// power of two, the all-gather doubles recursively (Thakur, Rabenseifner, Gropp: "Optimization of collective
// communication operations in MPICH", 2005, section 4.2). Else it has the rounds of Bruck et al. 1997,
// section 4. There a rank's parts may wrap around the end of the array; then they are two messages.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void broadcast_scatter_doubling(const Call& call, Steps& steps) {
    const Parts parts(call.count, call.ranks);
    scatter_parts<radix>(call, parts, steps);
    gather_doubling(
        call, [&](RankId first, RankId last) { return parts.range(Array::output, first, last); }, steps);
}

template void broadcast_scatter_doubling<2>(const Call&, Steps&);
template void broadcast_scatter_doubling<4>(const Call&, Steps&);
template void broadcast_scatter_doubling<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
