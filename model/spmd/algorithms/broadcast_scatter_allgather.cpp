// Broadcast by a binomial scatter of the array's parts, then an all-gather around the ring. Barnett et al.:
// "Interprocessor collective communication library (InterCom)", 1994 (van de Geijn's algorithm), as in
// Thakur, Rabenseifner, Gropp 2005, section 4.2.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void broadcast_scatter_allgather(const Call& call, Steps& steps) {
    const Parts parts(call.count, call.ranks);
    scatter_parts<2>(call, parts, steps);
    go_around(call, call.from_root(), steps, [&](RankId part) { return parts.range(Array::output, part); });
}

}  // namespace heddle::spmd::algorithms
