// Each leader gathers the blocks of its group, the leaders gather those of all groups, whose sizes may
// differ, and each leader broadcasts all blocks in its group. Traeff: "Efficient allgather for regular
// SMP-clusters", 2006.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void all_gather_in(const Call& call, const Groups* groups, const BlocksOf& part, Steps& steps) {
    if (!groups) return gather_doubling(call, part, steps);
    const Level level(call, *groups);
    const RankId first = groups->first(groups->of(call.rank));
    Renumbered near(steps, level.member_of());
    gather_up(level.inside(), in_group(part, first), near);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of());
        all_gather_in(level.among(), groups->above(), of_groups(part, *groups), far);
    }
    Call all = level.inside();
    all.count = part(0, call.ranks).count;
    broadcast_knomial<2>(all, near);
}

}  // namespace

template <int levels>
void all_gather_levels(const Call& call, Steps& steps) {
    steps.copy(block(call, Array::output, call.rank), whole(call, Array::input));
    all_gather_in(
        from_first(call), groups_of<levels>(call),
        [&](RankId first, RankId last) { return blocks(call, Array::output, first, last); }, steps);
}

template void all_gather_levels<2>(const Call&, Steps&);
template void all_gather_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
