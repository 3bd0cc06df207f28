// Thakur, Rabenseifner, Gropp: "Optimization of collective communication operations in MPICH", 2005, section
// 4.3. Each rank sends the blocks of its subtree in one message.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The root's children: their blocks go where they belong, unless they pass the end of the array.
void gather_at_root(const Call& call, const Binomial& tree, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    for (RankId distance = 1; distance < tree.size; distance *= 2) {
        const RankId begin = call.after(distance);
        const RankId size = tree.size_of_child(distance);
        if (size <= call.ranks - begin) {
            steps.receive(begin, blocks(call, Array::output, begin, begin + size));
            continue;
        }
        const RankId to_end = call.ranks - begin;
        steps.reserve(size * call.count);
        steps.receive(begin, blocks(call, Array::scratch, 0, size));
        steps.copy(blocks(call, Array::output, begin, call.ranks), blocks(call, Array::scratch, 0, to_end));
        steps.copy(blocks(call, Array::output, 0, size - to_end), blocks(call, Array::scratch, to_end, size));
    }
}

}  // namespace

void gather_binomial(const Call& call, Steps& steps) {
    const Binomial tree(call.from_root(), call.ranks);
    if (call.rank == call.root) return gather_at_root(call, tree, steps);
    if (tree.size == 1) return steps.send(call.before(tree.reach), whole(call, Array::input));
    steps.reserve(tree.size * call.count);
    steps.copy(block(call, Array::scratch, 0), whole(call, Array::input));
    for (RankId distance = 1; distance < tree.size; distance *= 2)
        steps.receive(call.after(distance),
                      blocks(call, Array::scratch, distance, distance + tree.size_of_child(distance)));
    steps.send(call.before(tree.reach), blocks(call, Array::scratch, 0, tree.size));
}

}  // namespace heddle::spmd::algorithms
