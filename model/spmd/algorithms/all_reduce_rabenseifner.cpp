// All-reduce by a reduce-scatter of halving exchanges, then an all-gather of doubling ones. Rabenseifner:
// "Optimization of collective reduction operations", 2004, section 4, as in Thakur, Rabenseifner, Gropp 2005,
// section 4.5. Distances double while parts halve, so values are combined in the order of the ranks.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_reduce_rabenseifner(const Call& call, Steps& steps) {
    const Folded folded(call);
    const Range output = whole(call, Array::output);
    if (folded.leaves()) {
        steps.send(call.after(1), whole(call, Array::input));
        return steps.receive(call.after(1), output);
    }
    steps.copy(output, whole(call, Array::input));
    if (folded.stays_for_other()) steps.combine(call.before(1), output, Comes::left);

    const RankId number = folded.number();
    const Parts parts(call.count, folded.ranks());
    RankId first = combine_halves(folded, parts, Array::output, steps);
    RankId size = 1;
    for (RankId distance = folded.ranks() / 2; distance > 0; distance /= 2) {
        const RankId other = number ^ distance;
        const RankId others = other > number ? first + size : first - size;
        steps.send(folded.rank(other), parts.range(Array::output, first, first + size));
        steps.receive(folded.rank(other), parts.range(Array::output, others, others + size));
        first = std::min(first, others);
        size *= 2;
    }
    if (folded.stays_for_other()) steps.send(call.before(1), output);
}

}  // namespace heddle::spmd::algorithms
