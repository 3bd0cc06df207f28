// All-reduce by a reduce-scatter around a ring, then an all-gather around it. Patarasuk, Yuan: "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", 2009, section 4. Each part is combined in the
// order of the ranks, but begins at another rank.
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
