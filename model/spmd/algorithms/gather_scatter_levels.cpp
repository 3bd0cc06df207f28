// Gather and scatter in two levels: trees in groups of near ranks, and a tree of the groups' leaders, which
// send the blocks of whole groups. Kielmann et al.: "MagPIe: MPI's collective communication operations for
// clustered wide area systems", 1999.
#include "model/spmd/algorithms/block_trees.hpp"
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The blocks of groups, among their leaders. `home`: where the root has all.
auto of_groups(const Call& call, const Groups& groups, Array home) {
    const RankId of_root = groups.of(call.root);
    const auto before = [&groups, of_root, n = call.count](RankId number) {
        const RankId to_end = groups.count() - of_root;
        const RankId own = groups.first(of_root);
        if (number <= to_end) return n * (groups.first(of_root + number) - own);
        return n * (groups.ranks() - own + groups.first(number - to_end));
    };
    return TreeBlocks{before, blocks(call, home, 0, call.ranks), call.count * groups.first(of_root)};
}

/// The blocks of a group, which its leader has: the root in `home`, another one at the beginning of its
/// scratch.
auto of_group(const Call& call, const Groups& groups, const Call& inside, Array home) {
    const RankId first = groups.first(groups.of(call.rank));
    const bool has_root = groups.of(call.root) == groups.of(call.rank);
    const Range range = has_root ? blocks(call, home, first, first + inside.ranks)
                                 : blocks(call, Array::scratch, 0, inside.ranks);
    return TreeBlocks{[n = call.count](RankId number) { return number * n; }, range,
                      inside.root * call.count};
}

/// How many elements come together at this rank, which is no root.
Index collected(const Call& call, const Groups& groups, const Level& level) {
    const Call inside = level.inside(), among = level.among();
    if (!level.leads()) return Tree<2>(inside.from_root(), inside.ranks).size * call.count;
    const RankId number = among.from_root();
    return of_groups(call, groups, Array::output).between(number, number + Tree<2>(number, among.ranks).size);
}

/// Where this rank's own block is on its way.
Range own_block(const Call& call, Array home) {
    return call.rank == call.root ? block(call, home, call.rank) : block(call, Array::scratch, 0);
}

/// It has no blocks but its own.
bool is_leaf(const Level& level) {
    return !level.leads() && Tree<2>(level.inside().from_root(), level.inside().ranks).size == 1;
}
RankId parent_of_leaf(const Level& level) {
    const Call inside = level.inside();
    return level.member_of()(inside.before(Tree<2>(inside.from_root(), inside.ranks).to_parent));
}

}  // namespace

void gather_two_level(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<2>(call);
    if (!groups) return gather_knomial<2>(call, steps);
    const Level level(call, *groups);
    if (is_leaf(level)) return steps.send(parent_of_leaf(level), whole(call, Array::input));
    if (call.rank != call.root) steps.reserve(collected(call, *groups, level));
    steps.copy(own_block(call, Array::output), whole(call, Array::input));
    const Call inside = level.inside();
    Renumbered near(steps, level.member_of());
    gather_tree<2>(inside, of_group(call, *groups, inside, Array::output), near);
    if (!level.leads()) return;
    Renumbered far(steps, level.leader_of());
    gather_tree<2>(level.among(), of_groups(call, *groups, Array::output), far);
}

void scatter_two_level(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<2>(call);
    if (!groups) return scatter_knomial<2>(call, steps);
    const Level level(call, *groups);
    if (is_leaf(level)) return steps.receive(parent_of_leaf(level), whole(call, Array::output));
    if (call.rank != call.root) steps.reserve(collected(call, *groups, level));
    if (level.leads()) {
        Renumbered far(steps, level.leader_of());
        scatter_tree<2>(level.among(), of_groups(call, *groups, Array::input), far);
    }
    const Call inside = level.inside();
    Renumbered near(steps, level.member_of());
    scatter_tree<2>(inside, of_group(call, *groups, inside, Array::input), near);
    steps.copy(whole(call, Array::output), own_block(call, Array::input));
}

}  // namespace heddle::spmd::algorithms
