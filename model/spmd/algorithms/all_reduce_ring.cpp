// A reduce-scatter around the ring, then an all-gather around the ring. Patarasuk, Yuan: "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", 2009, section 4. A part is combined in the order of
// the ranks around the ring, which begins elsewhere for each part.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_reduce_ring(const Call& call, Steps& steps) {
    const Parts parts(call.count, call.ranks);
    const auto part = [&](RankId which) { return parts.range(Array::output, which); };
    steps.copy(whole(call, Array::output), whole(call, Array::input));
    for (RankId round = 0; round + 1 < call.ranks; ++round) {
        steps.send(call.after(1), part(call.before(round)));
        steps.combine(call.before(1), part(call.before(round + 1)), Comes::left);
    }
    go_around(call, call.after(1), steps, part);
}

}  // namespace heddle::spmd::algorithms
