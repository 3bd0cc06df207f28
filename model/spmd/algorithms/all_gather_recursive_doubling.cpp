// All-gather by pairs of ranks, which exchange all blocks that they have, at doubling distances. Thakur,
// Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section 4.1. If
// the ranks are no power of two, the surplus ones give their block to the next rank and get all blocks from
// it.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_gather_recursive_doubling(const Call& call, Steps& steps) {
    const Folded folded(call);
    const Range all = blocks(call, Array::output, 0, call.ranks);
    if (folded.leaves()) {
        steps.send(call.after(1), whole(call, Array::input));
        return steps.receive(call.after(1), all);
    }
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    if (folded.stays_for_other()) steps.receive(call.before(1), block(call, Array::output, call.before(1)));

    const auto group = [&](RankId number, RankId distance) {
        const RankId begin = number / distance * distance;
        return blocks(call, Array::output, folded.first(begin), folded.first(begin + distance));
    };
    const RankId number = folded.number();
    for (RankId distance = 1; distance < folded.ranks(); distance *= 2) {
        const RankId other = number ^ distance;
        steps.send(folded.rank(other), group(number, distance));
        steps.receive(folded.rank(other), group(other, distance));
    }
    if (folded.stays_for_other()) steps.send(call.before(1), all);
}

}  // namespace heddle::spmd::algorithms
