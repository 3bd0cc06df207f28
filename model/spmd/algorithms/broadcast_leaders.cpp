// Several leaders in each group: the root gives each leader of its group a part, leaders of one number
// broadcast theirs (broadcast_scatter_doubling.cpp), and each sends its part to its group. Several leaders as
// in Bayatpour et al.: "Scalable reduction collectives with data partitioning-based multi-leader design",
// 2017.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

template <RankId leaders_max>
void broadcast_leaders(const Call& call, Steps& steps) {
    const Groups* groups = groups_of<2>(call);
    if (!groups) return broadcast_scatter_doubling<2>(call, steps);
    const RankId group = groups->of(call.rank);
    const RankId of_root = groups->of(call.root);
    const Level level(call, *groups);
    const Call inside = level.inside();
    const RankId leaders = std::min(leaders_max, groups->least());
    const Parts parts(call.count, leaders);
    Renumbered near(steps, level.member_of());
    if (call.rank == call.root) {
        for (RankId leader = 0; leader < leaders; ++leader)
            if (leader != inside.rank) near.send(leader, parts.range(Array::output, leader));
    }
    if (inside.rank < leaders) {
        const Range own = parts.range(Array::output, inside.rank);
        if (group == of_root && call.rank != call.root) steps.receive(call.root, own);
        Renumbered far(
            steps, [&](RankId number) { return groups->first(number) + inside.rank; }, Array::output,
            own.begin);
        Call among = level.among();
        among.count = own.count;
        broadcast_scatter_doubling<2>(among, far);
    }
    spread_parts(inside, parts, leaders, near, group == of_root ? inside.root : inside.ranks);
}

template void broadcast_leaders<2>(const Call&, Steps&);
template void broadcast_leaders<4>(const Call&, Steps&);
template void broadcast_leaders<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
