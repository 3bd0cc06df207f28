// Reduce-scatter by pairs of ranks at halving distances: each sends the half that its partner answers for,
// and combines its own. Distant ranks are combined first. Thakur, Rabenseifner, Gropp: "Optimization of
// collective communication operations in MPICH", 2005, section 4.3.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void reduce_scatter_recursive_halving(const Call& call, Steps& steps) {
    const Folded folded(call);
    const Range all = blocks(call, Array::scratch, 0, call.ranks);
    if (folded.leaves()) {
        steps.send(call.after(1), blocks(call, Array::input, 0, call.ranks));
        return steps.receive(call.after(1), whole(call, Array::output));
    }
    steps.reserve(all.count);
    steps.copy(all, blocks(call, Array::input, 0, call.ranks));
    if (folded.stays_for_other()) steps.combine(call.before(1), all, Comes::left);

    const auto group = [&](RankId number, RankId distance) {
        const RankId begin = number / distance * distance;
        return blocks(call, Array::scratch, folded.first(begin), folded.first(begin + distance));
    };
    const RankId number = folded.number();
    for (RankId distance = folded.ranks() / 2; distance > 0; distance /= 2) {
        const RankId other = number ^ distance;
        steps.send(folded.rank(other), group(other, distance));
        steps.combine(folded.rank(other), group(number, distance), comes_from(other, number));
    }
    steps.copy(whole(call, Array::output), block(call, Array::scratch, call.rank));
    if (folded.stays_for_other()) steps.send(call.before(1), block(call, Array::scratch, call.before(1)));
}

}  // namespace heddle::spmd::algorithms
