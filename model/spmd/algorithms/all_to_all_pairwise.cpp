// In each round every rank exchanges blocks with one other rank. Thakur, Rabenseifner, Gropp: "Optimization
// of collective communication operations in MPICH", 2005, section 4.6: in each round pairs exchange, by
// exclusive or as in Chiang, Wu, Lin, section 3.1.2. Where the ranks are no power of two, round k pairs the
// ranks whose sum is k modulo p, so each pair meets once, too.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_to_all_pairwise(const Call& call, Steps& steps) {
    const RankId ranks = call.ranks;
    steps.copy(block(call, Array::output, call.rank), block(call, Array::input, call.rank));
    for (RankId round = 0; round < ranks; ++round) {
        const RankId other =
            std::has_single_bit(ranks) ? call.rank ^ round : (round + ranks - call.rank) % ranks;
        if (other == call.rank) continue;
        steps.send(other, block(call, Array::input, other));
        steps.receive(other, block(call, Array::output, other));
    }
}

}  // namespace heddle::spmd::algorithms
