// Each rank passes on to the next one the block that came last. Thakur, Rabenseifner, Gropp: "Optimization of
// collective communication operations in MPICH", 2005, section 4.1.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_gather_ring(const Call& call, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    go_around(call, call.rank, steps, [&](RankId which) { return block(call, Array::output, which); });
}

}  // namespace heddle::spmd::algorithms
