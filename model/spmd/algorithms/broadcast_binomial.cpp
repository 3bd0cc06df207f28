// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4.2: the distance halves from round to round.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void broadcast_binomial(const Call& call, Steps& steps) {
    const RankId number = call.from_root();
    const Binomial tree(number, call.ranks);
    if (number > 0) steps.receive(call.before(tree.reach), whole(call, Array::output));
    for (RankId distance = tree.reach / 2; distance > 0; distance /= 2)
        if (distance < tree.size) steps.send(call.after(distance), whole(call, Array::output));
}

}  // namespace heddle::spmd::algorithms
