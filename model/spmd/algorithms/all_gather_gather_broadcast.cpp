// All-gather by a k-nomial gather to rank 0 and a k-nomial broadcast of all blocks. An all-gather must not be
// slower than that (Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.1). With a high radix it has few latencies in a row.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

template <RankId radix>
void all_gather_gather_broadcast(const Call& call, Steps& steps) {
    Call from_first = call;
    from_first.root = 0;
    gather_knomial<radix>(from_first, steps);
    from_first.count *= call.ranks;
    broadcast_knomial<radix>(from_first, steps);
}

template void all_gather_gather_broadcast<2>(const Call&, Steps&);
template void all_gather_gather_broadcast<4>(const Call&, Steps&);
template void all_gather_gather_broadcast<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
