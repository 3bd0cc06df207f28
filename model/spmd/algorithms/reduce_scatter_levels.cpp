// Reduce-scatter in two levels: the leader of each group of near ranks combines the arrays of its group, a
// ring of the leaders combines the blocks of each group, and each leader scatters those of its own. Kielmann
// et al.: "MagPIe: MPI's collective communication operations for clustered wide area systems", 1999.
#include "model/spmd/algorithms/block_trees.hpp"
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

void reduce_scatter_two_level(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<2>(call);
    if (!groups) return reduce_scatter_ring(call, steps);
    const Call without_root = from_first(call);
    const Level level(without_root, *groups);
    const RankId group = groups->of(call.rank);
    const Call inside = level.inside();
    const auto of_group = [&](RankId which) {
        return blocks(call, Array::scratch, groups->first(which), groups->first(which + 1));
    };

    Renumbered near(steps, level.member_of());
    Call all = inside;
    all.count = call.ranks * call.count;
    if (level.leads()) steps.reserve(all.count);
    combine_up<2>(all, all.rank, whole(all, Array::scratch), near);
    if (level.leads()) {
        const Call among = level.among();
        Renumbered far(steps, level.leader_of());
        for (RankId round = 1; round < among.ranks; ++round) {
            far.send(among.after(1), of_group(among.before(round)));
            far.combine(among.before(1), of_group(among.before(round + 1)), Comes::left);
        }
    }

    const Tree<2> tree(inside.rank, inside.ranks);
    if (inside.rank > 0 && tree.size == 1)
        return near.receive(inside.before(tree.to_parent), whole(call, Array::output));
    const TreeBlocks of{[n = call.count](RankId number) { return number * n; }, of_group(group), 0};
    scatter_tree<2>(inside, of, near);
    steps.copy(whole(call, Array::output),
               inside.rank == 0 ? block(call, Array::scratch, call.rank) : block(call, Array::scratch, 0));
}

}  // namespace heddle::spmd::algorithms
