// Reduction by a reduce-scatter of halving exchanges, then a binomial gather of the combined parts to the
// root. Rabenseifner: "Optimization of collective reduction operations", 2004, section 4, as in Thakur,
// Rabenseifner, Gropp 2005, section 4.4.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

void reduce_rabenseifner(const Call& call, Steps& steps) {
    const Folded folded(call);
    const bool is_root = call.rank == call.root;
    if (folded.leaves()) {
        steps.send(call.after(1), whole(call, Array::input));
        if (is_root) steps.receive(call.after(1), whole(call, Array::output));
        return;
    }
    const Array array = is_root ? Array::output : Array::scratch;
    const Range all = whole(call, array);
    if (!is_root) steps.reserve(call.count);
    steps.copy(all, whole(call, Array::input));
    if (folded.stays_for_other()) steps.combine(call.before(1), all, Comes::left);

    const RankId number = folded.number();
    const RankId end = folded.number_of(call.root);
    const Parts parts(call.count, folded.ranks());
    RankId first = combine_halves(folded, parts, array, steps);
    RankId size = 1;
    for (RankId distance = folded.ranks() / 2; distance > 0; distance /= 2) {
        const RankId other = number ^ distance;
        // Of a pair the one nearer to the end of the tree receives.
        if (((number ^ end) & distance) != 0)
            return steps.send(folded.rank(other), parts.range(array, first, first + size));
        const RankId others = other > number ? first + size : first - size;
        steps.receive(folded.rank(other), parts.range(array, others, others + size));
        first = std::min(first, others);
        size *= 2;
    }
    if (folded.rank(end) != call.root) steps.send(call.root, all);
}

}  // namespace heddle::spmd::algorithms
