// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4.4. A tree from the root on combines in the order of the ranks around the ring. A tree from rank 0 on
// combines in the order of the ranks, and gives the same bits for each root; it costs one more message.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// Combines towards the rank numbered 0, whose result is in `target`.
void combine_up(const Call& call, RankId number, const Range& target, Steps& steps) {
    const Range input = whole(call, Array::input);
    const Binomial tree(number, call.ranks);
    if (tree.size == 1) {
        if (number == 0) return steps.copy(target, input);
        return steps.send(call.before(tree.reach), input);
    }
    if (target.array == Array::scratch) steps.reserve(call.count);
    steps.copy(target, input);
    for (RankId distance = 1; distance < tree.size; distance *= 2)
        steps.combine(call.after(distance), target, Comes::right);
    if (number > 0) steps.send(call.before(tree.reach), target);
}

}  // namespace

void reduce_binomial(const Call& call, Steps& steps) {
    const bool root = call.rank == call.root;
    combine_up(call, call.from_root(), whole(call, root ? Array::output : Array::scratch), steps);
}

void reduce_binomial_in_order(const Call& call, Steps& steps) {
    const bool last = call.rank == 0 && call.root == 0;
    combine_up(call, call.rank, whole(call, last ? Array::output : Array::scratch), steps);
    if (call.root == 0) return;
    if (call.rank == 0) steps.send(call.root, whole(call, Array::scratch));
    if (call.rank == call.root) steps.receive(0, whole(call, Array::output));
}

}  // namespace heddle::spmd::algorithms
