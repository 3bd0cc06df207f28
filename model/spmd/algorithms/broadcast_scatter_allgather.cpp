// Barnett et al.: "Interprocessor collective communication library (InterCom)", 1994 (van de Geijn's
// algorithm), as in Thakur, Rabenseifner, Gropp 2005, section 4.2: a binomial scatter of the array's parts,
// then an all-gather around the ring.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void broadcast_scatter_allgather(const Call& call, Steps& steps) {
    const Parts parts(call.count, call.ranks);
    const RankId number = call.from_root();
    const Binomial tree(number, call.ranks);
    if (number > 0)
        steps.receive(call.before(tree.reach), parts.range(Array::output, number, number + tree.size));
    for (RankId distance = tree.reach / 2; distance > 0; distance /= 2) {
        if (distance >= tree.size) continue;
        const RankId child = number + distance;
        steps.send(call.after(distance),
                   parts.range(Array::output, child, child + tree.size_of_child(distance)));
    }
    go_around(call, number, steps, [&](RankId part) { return parts.range(Array::output, part); });
}

}  // namespace heddle::spmd::algorithms
