// All-reduce by a k-nomial reduction to rank 0 and a k-nomial broadcast. With radix 2 it is MPICH's algorithm
// before 2005 (Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH",
// 2005, section 4.5). On 3 ranks, and with a higher radix, it has fewer latencies in a row than recursive
// doubling.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void all_reduce_reduce_broadcast(const Call& call, Steps& steps) {
    Call from_first = call;
    from_first.root = 0;
    combine_up<radix>(from_first, call.rank, whole(call, Array::output), steps);
    broadcast_knomial<radix>(from_first, steps);
}

template void all_reduce_reduce_broadcast<2>(const Call&, Steps&);
template void all_reduce_reduce_broadcast<4>(const Call&, Steps&);
template void all_reduce_reduce_broadcast<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
