// Each group's leader combines the arrays of its group, then the leaders' arrays are combined: the mirror of
// broadcast_levels.cpp. Kielmann et al.: "MagPIe: MPI's collective communication operations for clustered
// wide area systems", 1999. A group's tree begins at its leader, so the operator must commute.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void reduce_in(const Call& call, const Groups* groups, Steps& steps) {
    if (!groups) return reduce_knomial<2>(call, steps);
    const Level level(call, *groups);
    const Call inside = level.inside();
    const Array target = call.rank == call.root ? Array::output : Array::scratch;
    if (inside.ranks > 1) {
        Renumbered near(steps, level.member_of());
        combine_up<2>(inside, inside.from_root(), whole(inside, target), near);
    }
    if (!level.leads()) return;
    Renumbered far(steps, level.leader_of(), inside.ranks > 1 ? target : Array::input);
    reduce_in(level.among(), groups->above(), far);
}

}  // namespace

template <int levels>
void reduce_levels(const Call& call, Steps& steps) {
    reduce_in(call, groups_of<levels>(call), steps);
}

template void reduce_levels<2>(const Call&, Steps&);
template void reduce_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
