// All-gather around a ring: in each round a rank sends the next rank the block that it received last. Thakur,
// Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section 4.1.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_gather_ring(const Call& call, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    go_around(call, call.rank, steps, [&](RankId which) { return block(call, Array::output, which); });
}

}  // namespace heddle::spmd::algorithms
