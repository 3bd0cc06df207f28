// The ranks of a group signal to its leader, the leaders meet by dissemination, and each releases its group.
// Kielmann et al.: "MagPIe: MPI's collective communication operations for clustered wide area systems", 1999;
// dissemination: barrier_dissemination.cpp.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

void barrier_in(const Call& call, const Groups* groups, Steps& steps) {
    if (!groups) return barrier_dissemination<2>(call, steps);
    const Level level(call, *groups);
    Renumbered near(steps, level.member_of());
    gather_up(
        level.inside(), [](RankId, RankId) { return Range{}; }, near);
    if (level.leads()) {
        Renumbered far(steps, level.leader_of());
        barrier_in(level.among(), groups->above(), far);
    }
    broadcast_knomial<2>(level.inside(), near);
}

}  // namespace

template <int levels>
void barrier_levels(const Call& call, Steps& steps) {
    Call signals = from_first(call);
    signals.count = 0;
    barrier_in(signals, groups_of<levels>(call), steps);
}

template void barrier_levels<2>(const Call&, Steps&);
template void barrier_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
