// Reduce-scatter around a ring: a block is combined on its way, and ends at its rank. It is the first half of
// Patarasuk, Yuan: "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009, section 4.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void reduce_scatter_ring(const Call& call, Steps& steps) {
    const auto input = [&](RankId which) { return block(call, Array::input, which); };
    const Range output = whole(call, Array::output);
    if (call.ranks == 1) return steps.copy(output, input(0));
    const Range partial = whole(call, Array::scratch);
    steps.reserve(call.count);
    for (RankId round = 1; round < call.ranks; ++round) {
        const Range& target = round + 1 == call.ranks ? output : partial;
        steps.send(call.after(1), round == 1 ? input(call.before(1)) : partial);
        steps.copy(target, input(call.before(round + 1)));
        steps.combine(call.before(1), target, Comes::left);
    }
}

}  // namespace heddle::spmd::algorithms
