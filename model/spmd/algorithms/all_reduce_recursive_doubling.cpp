// All-reduce by pairs of ranks, which exchange what they have combined, the whole array each time, at
// doubling distances. Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in
// MPICH", 2005, section 4.5.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void all_reduce_recursive_doubling(const Call& call, Steps& steps) {
    const Folded folded(call);
    const Range output = whole(call, Array::output);
    if (folded.leaves()) {
        steps.send(call.after(1), whole(call, Array::input));
        return steps.receive(call.after(1), output);
    }
    steps.copy(output, whole(call, Array::input));
    if (folded.stays_for_other()) steps.combine(call.before(1), output, Comes::left);
    const RankId number = folded.number();
    for (RankId distance = 1; distance < folded.ranks(); distance *= 2) {
        const RankId other = number ^ distance;
        steps.send(folded.rank(other), output);
        steps.combine(folded.rank(other), output, comes_from(other, number));
    }
    if (folded.stays_for_other()) steps.send(call.before(1), output);
}

}  // namespace heddle::spmd::algorithms
