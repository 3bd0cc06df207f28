// All-gather in few rounds: a rank sends all blocks that it has, each round to twice the distance. At the end
// it rotates the array. Bruck et al.: "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", 1997, section 4 (the concatenation), as in Thakur, Rabenseifner, Gropp 2005,
// section 4.1.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_gather_bruck(const Call& call, Steps& steps) {
    const RankId ranks = call.ranks;
    steps.reserve(ranks * call.count);
    // Block j of scratch is that of the rank j after this one.
    steps.copy(block(call, Array::scratch, 0), whole(call, Array::input));
    for (RankId distance = 1; distance < ranks; distance *= 2) {
        const RankId sent = std::min(distance, ranks - distance);
        steps.send(call.before(distance), blocks(call, Array::scratch, 0, sent));
        steps.receive(call.after(distance), blocks(call, Array::scratch, distance, distance + sent));
    }
    const RankId to_end = ranks - call.rank;
    steps.copy(blocks(call, Array::output, call.rank, ranks), blocks(call, Array::scratch, 0, to_end));
    steps.copy(blocks(call, Array::output, 0, call.rank), blocks(call, Array::scratch, to_end, ranks));
}

}  // namespace heddle::spmd::algorithms
