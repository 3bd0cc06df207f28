// All-to-all for any number of ranks: in round k a rank sends a block k ranks ahead, and receives one from k
// ranks behind. Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH",
// 2005, section 4.6.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_to_all_ring(const Call& call, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), block(call, Array::input, call.rank));
    for (RankId round = 1; round < call.ranks; ++round) {
        steps.send(call.after(round), block(call, Array::input, call.after(round)));
        steps.receive(call.before(round), block(call, Array::output, call.before(round)));
    }
}

}  // namespace heddle::spmd::algorithms
