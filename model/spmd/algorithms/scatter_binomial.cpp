// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4.2. Each rank gets the blocks of its subtree in one message.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The blocks of a child are sent from where they are, unless they pass the end of the array.
void scatter_at_root(const Call& call, const Binomial& tree, Steps& steps) {
    for (RankId distance = tree.reach / 2; distance > 0; distance /= 2) {
        if (distance >= tree.size) continue;
        const RankId begin = call.after(distance);
        const RankId size = tree.size_of_child(distance);
        if (size <= call.ranks - begin) {
            steps.send(begin, blocks(call, Array::input, begin, begin + size));
            continue;
        }
        const RankId to_end = call.ranks - begin;
        steps.reserve(size * call.count);
        steps.copy(blocks(call, Array::scratch, 0, to_end), blocks(call, Array::input, begin, call.ranks));
        steps.copy(blocks(call, Array::scratch, to_end, size), blocks(call, Array::input, 0, size - to_end));
        steps.send(begin, blocks(call, Array::scratch, 0, size));
    }
    steps.copy(whole(call, Array::output), block(call, Array::input, call.rank));
}

}  // namespace

void scatter_binomial(const Call& call, Steps& steps) {
    const Binomial tree(call.from_root(), call.ranks);
    if (call.rank == call.root) return scatter_at_root(call, tree, steps);
    if (tree.size == 1) return steps.receive(call.before(tree.reach), whole(call, Array::output));
    steps.reserve(tree.size * call.count);
    steps.receive(call.before(tree.reach), blocks(call, Array::scratch, 0, tree.size));
    for (RankId distance = tree.reach / 2; distance > 0; distance /= 2)
        if (distance < tree.size)
            steps.send(call.after(distance),
                       blocks(call, Array::scratch, distance, distance + tree.size_of_child(distance)));
    steps.copy(whole(call, Array::output), block(call, Array::scratch, 0));
}

}  // namespace heddle::spmd::algorithms
