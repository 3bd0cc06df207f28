// The groups' leaders broadcast, then each leader in its group: so the array comes to each group once.
// Kielmann et al.: "MagPIe: MPI's collective communication operations for clustered wide area systems", 1999.
// More levels: Karonis et al.: "Exploiting hierarchy in parallel computer networks to optimize collective
// operation performance", 2000.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void broadcast_in(const Call& call, const Groups* groups, Function* among, Steps& steps) {
    if (!groups) return among(call, steps);
    const Level level(call, *groups);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of());
        broadcast_in(level.among(), groups->above(), among, far);
    }
    Renumbered near(steps, level.member_of());
    broadcast_knomial<2>(level.inside(), near);
}

}  // namespace

template <int levels, Function among>
void broadcast_levels(const Call& call, Steps& steps) {
    broadcast_in(call, groups_of<levels>(call), among, steps);
}

template void broadcast_levels<2, broadcast_knomial<2>>(const Call&, Steps&);
template void broadcast_levels<3, broadcast_knomial<2>>(const Call&, Steps&);
template void broadcast_levels<2, broadcast_scatter_doubling<2>>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
