// A reduction in each group, an all-reduce of the leaders, and a broadcast in each group. Kielmann et al.:
// "MagPIe: MPI's collective communication operations for clustered wide area systems", 1999. All
// combine in the order of the ranks.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void all_reduce_in(const Call& call, const Groups* groups, Function* among, Steps& steps) {
    if (!groups) return among(call, steps);
    const Level level(call, *groups);
    const Call inside = level.inside();
    Renumbered near(steps, level.member_of());
    if (inside.ranks > 1) combine_up<2>(inside, inside.rank, whole(inside, Array::output), near);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of(), inside.ranks > 1 ? Array::output : Array::input);
        all_reduce_in(level.among(), groups->above(), among, far);
    }
    broadcast_knomial<2>(inside, near);
}

}  // namespace

template <int levels, Function among>
void all_reduce_levels(const Call& call, Steps& steps) {
    all_reduce_in(from_first(call), groups_of<levels>(call), among, steps);
}

template void all_reduce_levels<2, all_reduce_recursive_doubling>(const Call&, Steps&);
template void all_reduce_levels<2, all_reduce_rabenseifner>(const Call&, Steps&);
template void all_reduce_levels<3, all_reduce_recursive_doubling>(const Call&, Steps&);
template void all_reduce_levels<3, all_reduce_rabenseifner>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
