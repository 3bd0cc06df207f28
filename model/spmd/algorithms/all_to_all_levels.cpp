// All-to-all in two levels: each leader collects the blocks of its group of near ranks, pairs of leaders
// exchange what their groups have for each other in one message each, and each leader deals out what has
// come. So there are few large messages in place of many small ones. Traeff, Rougier: "MPI collectives and
// datatypes for hierarchical all-to-all communication", 2014.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The scratch of a leader: for each member what it gives to all ranks, then what it gets from all, then a
/// message.
class Room {
public:
    Room(const Call& call, RankId members) : n_(call.count), ranks_(call.ranks), members_(members) {}

    Index elements(RankId largest_group) const {
        return n_ * (Index{2} * members_ * ranks_ + Index{members_} * largest_group);
    }
    /// Of member `member` for ranks first to last - 1.
    Range given(RankId member, RankId first, RankId last) const {
        return at(Index{member} * ranks_ + first, last - first);
    }
    /// For it from those ranks.
    Range got(RankId member, RankId first, RankId last) const {
        return at((Index{members_} + member) * ranks_ + first, last - first);
    }
    /// Of a message, blocks from `begin` on.
    Range message(Index begin, Index count) const { return at(Index{2} * members_ * ranks_ + begin, count); }

private:
    Range at(Index block, Index count) const { return {Array::scratch, n_ * block, n_ * count}; }

    Index n_;
    RankId ranks_;
    RankId members_;
};

/// Leaders of two groups exchange blocks.
void exchange(const Groups& groups, RankId own, RankId other, const Room& room, Steps& steps) {
    const RankId members = groups.size(own), others = groups.size(other);
    const RankId first = groups.first(other), end = groups.first(other + 1);
    for (RankId member = 0; member < members; ++member)
        steps.copy(room.message(Index{member} * others, others), room.given(member, first, end));
    steps.send(other, room.message(0, Index{members} * others));
    steps.receive(other, room.message(0, Index{members} * others));
    for (RankId from = 0; from < others; ++from)
        for (RankId member = 0; member < members; ++member)
            steps.copy(room.got(member, first + from, first + from + 1),
                       room.message(Index{from} * members + member, 1));
}

}  // namespace

void all_to_all_two_level(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<2>(call);
    if (!groups) return all_to_all_pairwise(call, steps);
    const RankId group = groups->of(call.rank);
    const RankId first = groups->first(group), end = groups->first(group + 1);
    const RankId members = end - first;
    const Range input = blocks(call, Array::input, 0, call.ranks);
    const Range output = blocks(call, Array::output, 0, call.ranks);
    if (call.rank != first) {
        steps.send(first, input);
        return steps.receive(first, output);
    }
    RankId largest = 0;
    for (RankId each = 0; each < groups->count(); ++each) largest = std::max(largest, groups->size(each));
    const Room room(call, members);
    steps.reserve(room.elements(largest));
    steps.copy(room.given(0, 0, call.ranks), input);
    for (RankId member = 1; member < members; ++member)
        steps.receive(first + member, room.given(member, 0, call.ranks));

    for (RankId from = 0; from < members; ++from)
        for (RankId to = 0; to < members; ++to)
            steps.copy(room.got(to, first + from, first + from + 1),
                       room.given(from, first + to, first + to + 1));
    Renumbered far(steps, [groups](RankId number) { return groups->first(number); });
    const RankId leaders = groups->count();
    for (RankId round = 0; round < leaders; ++round) {
        const RankId other =
            std::has_single_bit(leaders) ? group ^ round : (round + leaders - group) % leaders;
        if (other != group) exchange(*groups, group, other, room, far);
    }

    for (RankId member = 1; member < members; ++member)
        steps.send(first + member, room.got(member, 0, call.ranks));
    steps.copy(output, room.got(0, 0, call.ranks));
}

}  // namespace heddle::spmd::algorithms
