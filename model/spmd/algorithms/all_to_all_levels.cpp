// All-to-all in levels: each leader collects the blocks of its group of near ranks, pairs of leaders exchange
// what their groups have for each other in one message each, and each leader deals out what has come. With
// three levels the leaders of groups give all to the leader of a group of groups. So there are few large
// messages in place of many small ones. Traeff, Rougier: "MPI collectives and datatypes for hierarchical
// all-to-all communication", 2014.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// The scratch of a leader of ranks: for each what it gives to all ranks, then what it gets from all, then a
/// message.
class Room {
public:
    Room(const Call& call, RankId first, RankId end)
        : n_(call.count), ranks_(call.ranks), first_(first), end_(end) {}

    RankId first() const { return first_; }
    RankId end() const { return end_; }
    RankId members() const { return end_ - first_; }

    Index elements(RankId largest_group) const {
        return n_ * (Index{2} * members() * ranks_ + Index{members()} * largest_group);
    }
    /// Of a member for ranks first to last - 1.
    Range given(RankId member, RankId first, RankId last) const {
        return at(Index{member - first_} * ranks_ + first, last - first);
    }
    /// For it from those ranks.
    Range got(RankId member, RankId first, RankId last) const {
        return at((Index{members()} + member - first_) * ranks_ + first, last - first);
    }
    /// All that members from `from` to `to` - 1 give, and get.
    Range all_given(RankId from, RankId to) const { return rows(given(from, 0, ranks_), from, to); }
    Range all_got(RankId from, RankId to) const { return rows(got(from, 0, ranks_), from, to); }
    /// Of a message, blocks from `begin` on.
    Range message(Index begin, Index count) const { return at(Index{2} * members() * ranks_ + begin, count); }

private:
    Range at(Index block, Index count) const { return {Array::scratch, n_ * block, n_ * count}; }
    static Range rows(Range row, RankId from, RankId to) {
        row.count *= to - from;
        return row;
    }

    Index n_;
    RankId ranks_;
    RankId first_;
    RankId end_;
};

/// The ranks that a leader leads: of a group, and at the third level of a group of groups.
class Led {
public:
    explicit Led(const Groups& groups) : groups_(groups) {}

    RankId count() const { return groups_.above() ? groups_.above()->count() : groups_.count(); }
    RankId of(RankId rank) const {
        const RankId group = groups_.of(rank);
        return groups_.above() ? groups_.above()->of(group) : group;
    }
    RankId first(RankId which) const {
        return groups_.first(groups_.above() ? groups_.above()->first(which) : which);
    }
    RankId size(RankId which) const { return first(which + 1) - first(which); }
    RankId largest() const {
        RankId most = 0;
        for (RankId each = 0; each < count(); ++each) most = std::max(most, size(each));
        return most;
    }

private:
    const Groups& groups_;
};

/// Leaders exchange blocks of the ranks that they lead.
void exchange(const Led& led, RankId other, const Room& room, Steps& steps) {
    const RankId others = led.size(other);
    const RankId first = led.first(other), end = led.first(other + 1);
    Index place = 0;
    for (RankId member = room.first(); member < room.end(); ++member, place += others)
        steps.copy(room.message(place, others), room.given(member, first, end));
    steps.send(first, room.message(0, place));
    steps.receive(first, room.message(0, place));
    place = 0;
    for (RankId from = first; from < end; ++from)
        for (RankId member = room.first(); member < room.end(); ++member)
            steps.copy(room.got(member, from, from + 1), room.message(place++, 1));
}

void exchange_with_all(const Call& call, const Led& led, const Room& room, Steps& steps) {
    for (RankId from = room.first(); from < room.end(); ++from)
        for (RankId to = room.first(); to < room.end(); ++to)
            steps.copy(room.got(to, from, from + 1), room.given(from, to, to + 1));
    const RankId own = led.of(call.rank), leaders = led.count();
    for (RankId round = 0; round < leaders; ++round) {
        const RankId other = std::has_single_bit(leaders) ? own ^ round : (round + leaders - own) % leaders;
        if (other != own) exchange(led, other, room, steps);
    }
}

}  // namespace

template <int levels>
void all_to_all_levels(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<levels>(call);
    if (!groups) return all_to_all_pairwise(call, steps);
    const RankId group = groups->of(call.rank);
    const RankId first = groups->first(group), end = groups->first(group + 1);
    const Range input = blocks(call, Array::input, 0, call.ranks);
    const Range output = blocks(call, Array::output, 0, call.ranks);
    if (call.rank != first) {
        steps.send(first, input);
        return steps.receive(first, output);
    }
    const Led led(*groups);
    const RankId leader = led.first(led.of(call.rank));
    const bool leads = call.rank == leader;
    const Room room = leads ? Room(call, leader, led.first(led.of(call.rank) + 1)) : Room(call, first, end);
    steps.reserve(room.elements(leads ? led.largest() : 0));
    steps.copy(room.given(first, 0, call.ranks), input);
    for (RankId member = first + 1; member < end; ++member)
        steps.receive(member, room.given(member, 0, call.ranks));

    if (leads) {
        // The leaders of the other groups of this group of groups.
        const auto each_below = [&](const auto& visit) {
            for (RankId below = group + 1; groups->first(below) < room.end(); ++below)
                visit(groups->first(below), groups->first(below + 1));
        };
        each_below([&](RankId from, RankId to) { steps.receive(from, room.all_given(from, to)); });
        exchange_with_all(call, led, room, steps);
        each_below([&](RankId from, RankId to) { steps.send(from, room.all_got(from, to)); });
    } else {
        steps.send(leader, room.all_given(first, end));
        steps.receive(leader, room.all_got(first, end));
    }

    for (RankId member = first + 1; member < end; ++member)
        steps.send(member, room.got(member, 0, call.ranks));
    steps.copy(output, room.got(first, 0, call.ranks));
}

template void all_to_all_levels<2>(const Call&, Steps&);
template void all_to_all_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
