// Broadcast by a flat tree: the root sends to each rank. Pjesivac-Grbovic et al.: "Performance analysis of
// MPI collective operations", 2007, section 3.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void broadcast_flat(const Call& call, Steps& steps) {
    if (call.rank != call.root) return steps.receive(call.root, whole(call, Array::output));
    for (RankId distance = 1; distance < call.ranks; ++distance)
        steps.send(call.after(distance), whole(call, Array::output));
}

}  // namespace heddle::spmd::algorithms
