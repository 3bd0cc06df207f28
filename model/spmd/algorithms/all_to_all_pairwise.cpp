// All-to-all in rounds of pairs: in round k the ranks i and i xor k exchange blocks (Thakur, Rabenseifner,
// Gropp: "Optimization of collective communication operations in MPICH", 2005, section 4.6; Chiang, Wu, Lin,
// section 3.1.2). If the ranks are no power of two, round k pairs the ranks whose sum is k modulo p. So each
// pair meets once, too.
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
