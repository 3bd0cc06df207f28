// Several leaders in each group: each combines its part of the group's arrays, the leaders of one number
// combine theirs by halving and doubling (all_reduce_rabenseifner.cpp), and each sends its part to its group.
// Bayatpour et al.: "Scalable reduction collectives with data partitioning-based multi-leader design", 2017.
// All combine in the order of the ranks.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// Each rank's parts to their leaders, the first ranks of the group. Leaders send too, so each round has a
/// send and a receive. First messages to later ranks, nearest first, then those to earlier ones: so each
/// leader combines the ranks before it backwards and those after it forwards.
void combine_parts(const Call& inside, const Parts& parts, RankId leaders, Steps& steps) {
    const RankId own = inside.rank;
    const auto of = [&](Array array, RankId leader) { return parts.range(array, leader); };
    if (own < leaders) steps.copy(of(Array::output, own), of(Array::input, own));
    for (RankId distance = 1; distance < inside.ranks; ++distance) {
        const RankId to = own + distance;
        if (to < leaders) steps.send(to, of(Array::input, to));
        if (own < leaders && own >= distance)
            steps.combine(own - distance, of(Array::output, own), Comes::left);
    }
    for (RankId distance = 1; distance < inside.ranks; ++distance) {
        const RankId from = own + distance;
        if (own >= distance && own - distance < leaders)
            steps.send(own - distance, of(Array::input, own - distance));
        if (own < leaders && from < inside.ranks) steps.combine(from, of(Array::output, own), Comes::right);
    }
}

}  // namespace

template <RankId leaders_max>
void all_reduce_leaders(const Call& call, Steps& steps) {
    const Groups* groups = groups_of<2>(call);
    if (!groups) return all_reduce_rabenseifner(call, steps);
    const Call all = from_first(call);
    const Level level(all, *groups);
    const Call inside = level.inside();
    const RankId leaders = std::min(leaders_max, groups->least());
    const Parts parts(call.count, leaders);
    Renumbered near(steps, level.member_of());
    combine_parts(inside, parts, leaders, near);
    if (inside.rank < leaders) {
        const Range own = parts.range(Array::output, inside.rank);
        Renumbered far(
            steps, [&](RankId group) { return groups->first(group) + inside.rank; }, Array::output,
            own.begin);
        Call among = level.among();
        among.count = own.count;
        all_reduce_rabenseifner(among, far);
    }
    spread_parts(inside, parts, leaders, near, inside.ranks);
}

template void all_reduce_leaders<2>(const Call&, Steps&);
template void all_reduce_leaders<4>(const Call&, Steps&);
template void all_reduce_leaders<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
