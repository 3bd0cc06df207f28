// Gather and scatter in levels: trees in groups of near ranks, and a tree of the groups' leaders, which send
// the blocks of whole groups; with three levels also trees of the leaders in groups of groups. Kielmann et
// al.: "MagPIe: MPI's collective communication operations for clustered wide area systems", 1999.
#include "model/spmd/algorithms/block_trees.hpp"
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The blocks of a call's ranks, each of which may stand for a group. `home`: where its root has them.
auto tree_blocks(const Call& call, const BlocksOf& part, Range home) {
    const auto before = [&part, root = call.root, ranks = call.ranks](RankId number) {
        const RankId to_end = ranks - root;
        if (number <= to_end) return part(root, root + number).count;
        return part(root, ranks).count + part(0, number - to_end).count;
    };
    return TreeBlocks{before, home, part(0, call.root).count};
}

/// Where the leader of a group has the group's blocks: the root in its array, another one at the beginning of
/// its scratch.
Range home_of(const Level& level, const BlocksOf& part) {
    const Range all = part(0, level.inside().ranks);
    return level.has_root() ? all : Range{Array::scratch, 0, all.count};
}

/// How many elements come together at this rank, if it is not the root.
Index collected(const Call& call, const Groups* groups, const BlocksOf& part) {
    if (!groups) {
        const auto of = tree_blocks(call, part, {});
        const RankId number = call.from_root();
        return of.between(number, number + Tree<2>(number, call.ranks).size);
    }
    const Level level(call, *groups);
    const Call inside = level.inside();
    if (level.leads()) return collected(level.among(), groups->above(), of_groups(part, *groups));
    return collected(inside, nullptr, in_group(part, groups->first(groups->of(call.rank))));
}

/// Where this rank's own block is on its way.
Range own_block(const Call& call, Array home) {
    return call.rank == call.root ? block(call, home, call.rank) : block(call, Array::scratch, 0);
}

/// The blocks of the call that this rank leads or is part of are there already.
void gather_in(const Call& call, const Groups* groups, const BlocksOf& part, Steps& steps) {
    if (!groups) return gather_tree<2>(call, tree_blocks(call, part, part(0, call.ranks)), steps);
    const Level level(call, *groups);
    const Call inside = level.inside();
    const BlocksOf near_part = in_group(part, groups->first(groups->of(call.rank)));
    Renumbered near(steps, level.member_of());
    gather_tree<2>(inside, tree_blocks(inside, near_part, home_of(level, near_part)), near);
    if (!level.leads()) return;
    Renumbered far(steps, level.leader_of());
    gather_in(level.among(), groups->above(), of_groups(part, *groups), far);
}

/// The mirror of it.
void scatter_in(const Call& call, const Groups* groups, const BlocksOf& part, Steps& steps) {
    if (!groups) return scatter_tree<2>(call, tree_blocks(call, part, part(0, call.ranks)), steps);
    const Level level(call, *groups);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of());
        scatter_in(level.among(), groups->above(), of_groups(part, *groups), far);
    }
    const Call inside = level.inside();
    const BlocksOf near_part = in_group(part, groups->first(groups->of(call.rank)));
    Renumbered near(steps, level.member_of());
    scatter_tree<2>(inside, tree_blocks(inside, near_part, home_of(level, near_part)), near);
}

BlocksOf blocks_in(const Call& call, Array home) {
    return [&call, home](RankId first, RankId last) { return blocks(call, home, first, last); };
}

}  // namespace

template <int levels>
void gather_levels(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<levels>(call);
    if (!groups) return gather_knomial<2>(call, steps);
    const Level level(call, *groups);
    if (level.is_leaf()) return steps.send(level.parent(), whole(call, Array::input));
    const BlocksOf part = blocks_in(call, Array::output);
    if (call.rank != call.root) steps.reserve(collected(call, groups, part));
    steps.copy(own_block(call, Array::output), whole(call, Array::input));
    gather_in(call, groups, part, steps);
}

template <int levels>
void scatter_levels(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<levels>(call);
    if (!groups) return scatter_knomial<2>(call, steps);
    const Level level(call, *groups);
    if (level.is_leaf()) return steps.receive(level.parent(), whole(call, Array::output));
    const BlocksOf part = blocks_in(call, Array::input);
    if (call.rank != call.root) steps.reserve(collected(call, groups, part));
    scatter_in(call, groups, part, steps);
    steps.copy(whole(call, Array::output), own_block(call, Array::input));
}

template void gather_levels<2>(const Call&, Steps&);
template void gather_levels<3>(const Call&, Steps&);
template void scatter_levels<2>(const Call&, Steps&);
template void scatter_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
