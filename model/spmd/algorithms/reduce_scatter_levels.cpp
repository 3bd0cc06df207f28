// Reduce-scatter in levels: the leader of each group of near ranks combines the arrays of its group, a ring
// of the leaders combines the blocks of each group, and each leader scatters those of its own. With three
// levels the leaders do the same in groups of groups. Kielmann et al.: "MagPIe: MPI's collective
// communication operations for clustered wide area systems", 1999.
#include "model/spmd/algorithms/block_trees.hpp"
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void around_ring(const Call& call, const BlocksOf& part, Steps& steps) {
    const auto of = [&part](RankId rank) { return part(rank, rank + 1); };
    for (RankId round = 1; round < call.ranks; ++round) {
        steps.send(call.after(1), of(call.before(round)));
        steps.combine(call.before(1), of(call.before(round + 1)), Comes::left);
    }
}

/// Each rank of the call has an array in its `input`, which becomes that of its scratch. Returns where the
/// rank's part of all arrays is in the end. `part`: of each rank, in the whole array.
Range combine_in(const Call& call, const Groups& groups, const BlocksOf& part, Steps& steps) {
    const Level level(call, groups);
    const RankId group = groups.of(call.rank);
    const RankId first = groups.first(group);
    const Call inside = level.inside();
    Renumbered near(steps, level.member_of());
    combine_up<2>(inside, inside.rank, whole(inside, Array::scratch), near);
    const BlocksOf of_group = of_groups(part, groups);
    Range mine = of_group(group, group + 1);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of(), Array::scratch);
        if (groups.above()) {
            mine = combine_in(level.among(), *groups.above(), of_group, far);
        } else {
            around_ring(level.among(), of_group, far);
        }
    }
    const auto before = [&part, first](RankId number) { return part(first, first + number).count; };
    scatter_tree<2>(inside, TreeBlocks{before, mine, 0}, near);
    const Index own = part(call.rank, call.rank + 1).count;
    return {mine.array, inside.rank == 0 ? mine.begin : 0, own};
}

}  // namespace

template <int levels>
void reduce_scatter_levels(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<levels>(call);
    if (!groups) return reduce_scatter_ring(call, steps);
    Call all = from_first(call);
    all.count = call.ranks * call.count;
    const Level level(all, *groups);
    if (level.is_leaf()) {
        steps.send(level.parent(), whole(all, Array::input));
        return steps.receive(level.parent(), whole(call, Array::output));
    }
    if (level.leads()) steps.reserve(all.count);
    const Range own = combine_in(
        all, *groups, [&](RankId first, RankId last) { return blocks(call, Array::scratch, first, last); },
        steps);
    steps.copy(whole(call, Array::output), own);
}

template void reduce_scatter_levels<2>(const Call&, Steps&);
template void reduce_scatter_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
