// Prefix sums (scan) in two levels: in each group of near ranks by recursive doubling; then the last ranks of
// the groups, which have their groups' sums, find the sum of all groups before theirs, and spread it in their
// groups. Kielmann et al.: "MagPIe: MPI's collective communication operations for clustered wide area
// systems", 1999.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// Recursive doubling among the groups. `sum`: of this rank's group; it becomes that of all up to it.
/// `before`: that of all groups before it, if there is one.
void sum_before(const Call& among, const Range& sum, const Range& before, const Range& other, Steps& steps) {
    for (RankId distance = 1; distance < among.ranks; distance *= 2) {
        if (distance < among.ranks - among.rank) steps.send(among.after(distance), sum);
        if (distance > among.rank) continue;
        steps.receive(among.before(distance), other);
        if (distance == 1) {
            steps.copy(before, other);
        } else {
            steps.fold(before, other, Comes::left);
        }
        steps.fold(sum, other, Comes::left);
    }
}

/// From the root down a tree.
void spread(const Call& call, const Range& range, Steps& steps) {
    const Tree<2> tree(call.from_root(), call.ranks);
    if (call.rank != call.root) steps.receive(call.before(tree.to_parent), range);
    tree.far_first([&](RankId distance, RankId /*size*/) { steps.send(call.after(distance), range); });
}

}  // namespace

void scan_two_level(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<2>(call);
    if (!groups) return scan_recursive_doubling(call, steps);
    const RankId group = groups->of(call.rank);
    const RankId first = groups->first(group);
    const RankId size = groups->size(group);
    const Range output = whole(call, Array::output);
    const auto room = [&](Index which) { return block(call, Array::scratch, static_cast<RankId>(which)); };
    const Call inside{call.rank - first, size, size - 1, call.count, call.segment};
    Renumbered near(steps, [first](RankId number) { return first + number; });
    scan_recursive_doubling(inside, near);
    if (groups->count() == 1) return;
    steps.reserve(3 * call.count);
    if (inside.rank == inside.root) {
        const Call among{group, groups->count(), 0, call.count, call.segment};
        Renumbered far(steps, [groups](RankId number) { return groups->first(number + 1) - 1; });
        steps.copy(room(1), output);
        sum_before(among, room(1), room(0), room(2), far);
    }
    if (group == 0) return;
    spread(inside, room(0), near);
    steps.fold(output, room(0), Comes::left);
}

}  // namespace heddle::spmd::algorithms
