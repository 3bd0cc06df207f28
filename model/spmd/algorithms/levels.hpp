// What algorithms of several levels share: they run others within groups of ranks, and among the groups'
// leaders.
#pragma once

#include <functional>
#include <utility>

#include "model/spmd/algorithms/algorithms.hpp"
#include "model/spmd/groups.hpp"

namespace heddle::spmd::algorithms {

/// The steps of some of the ranks, which are numbered from 0 on for an algorithm: `rank_of(number)` is the
/// rank. The algorithm's input and output may be parts of other arrays. Scratch is shared, and an
/// algorithm that reserves more of it than those before loses what they have there. If the input is
/// where the algorithm puts its result first, that copy is left out; so the algorithm must read its input
/// only then.
template <class RankOf>
class Renumbered final : public Steps {
public:
    Renumbered(Steps& steps, RankOf rank_of, Array input = Array::input, Index begin = 0)
        : steps_(steps), rank_of_(std::move(rank_of)), input_(input), begin_(begin) {}

    void reserve(Index elements) override { steps_.reserve(elements); }

private:
    void take(const Step& step) override {
        Step mapped = step;
        mapped.from = range(step.from);
        mapped.to = range(step.to);
        const bool local = step.kind == Step::Kind::copy || step.kind == Step::Kind::fold;
        if (step.kind == Step::Kind::copy && mapped.to == mapped.from) return;
        if (!local) mapped.peer = rank_of_(step.peer);
        steps_.step(mapped);
    }
    Range range(const Range& of) const {
        if (of.array == Array::scratch) return of;
        return {of.array == Array::input ? input_ : of.array, begin_ + of.begin, of.count};
    }

    Steps& steps_;
    RankOf rank_of_;
    Array input_;
    Index begin_;
};

/// A rank's group, and the groups' leaders: the root in its group, and the first rank in each other one.
class Level {
public:
    Level(const Call& call, const Groups& groups)
        : call_(call), groups_(groups), group_(groups.of(call.rank)), of_root_(groups.of(call.root)) {}

    /// The group has the root of all.
    bool has_root() const { return group_ == of_root_; }
    bool leads() const { return call_.rank == leader(group_); }
    RankId leader(RankId group) const { return group == of_root_ ? call_.root : groups_.first(group); }
    /// The call of the group; its root is the leader.
    Call inside() const {
        const RankId first = groups_.first(group_);
        return {call_.rank - first, groups_.size(group_), leader(group_) - first, call_.count, call_.segment};
    }
    /// The call of the leaders, in the order of their groups.
    Call among() const { return {group_, groups_.count(), of_root_, call_.count, call_.segment}; }

    /// It has no children in the binomial tree of its group, whose root is the leader.
    bool is_leaf() const { return !leads() && tree().size == 1; }
    /// Its parent there, if it is not the leader.
    RankId parent() const { return groups_.first(group_) + inside().before(tree().to_parent); }

    auto member_of() const {
        return [first = groups_.first(group_)](RankId number) { return first + number; };
    }
    auto leader_of() const {
        return [this](RankId number) { return leader(number); };
    }

private:
    Tree<2> tree() const { return {inside().from_root(), inside().ranks}; }

    const Call& call_;
    const Groups& groups_;
    RankId group_;
    RankId of_root_;
};

/// The blocks of ranks, or groups, first to last - 1.
using BlocksOf = std::function<Range(RankId first, RankId last)>;

/// Of the ranks of a group that begins with rank `first`, from the blocks of all. `part` must outlive it.
inline BlocksOf in_group(const BlocksOf& part, RankId first) {
    return [&part, first](RankId from, RankId to) { return part(first + from, first + to); };
}
/// Of the groups. Both must outlive it.
inline BlocksOf of_groups(const BlocksOf& part, const Groups& groups) {
    return [&](RankId from, RankId to) { return part(groups.first(from), groups.first(to)); };
}

/// Null if there are none: then each rank is a group.
template <int levels>
const Groups* groups_of(const Call& call) {
    if (!call.levels) return nullptr;
    return levels == 2 ? call.levels->two.get() : call.levels->three.get();
}

/// For operations without a root, whose calls may name any.
inline Call from_first(Call call) {
    call.root = 0;
    return call;
}

/// Ranges up a tree to rank 0: `part(first, last)` is that of ranks first to last - 1, in the output.
template <class Part>
void gather_up(const Call& call, const Part& part, Steps& steps) {
    const Tree<2> tree(call.rank, call.ranks);
    tree.near_first([&](RankId distance, RankId size) {
        const RankId child = call.rank + distance;
        steps.receive(child, part(child, child + size));
    });
    if (call.rank > 0) steps.send(call.rank - tree.to_parent, part(call.rank, call.rank + tree.size));
}

/// The first ranks of a group are leaders, and each sends its part to all: in each round a rank sends at most
/// once and receives at most once. `has_all`: a rank that needs none; the number of ranks if there is none.
inline void spread_parts(const Call& inside, const Parts& parts, RankId leaders, Steps& steps,
                         RankId has_all) {
    for (RankId distance = 1; distance < inside.ranks; ++distance) {
        const RankId to = inside.after(distance);
        const RankId from = inside.before(distance);
        if (inside.rank < leaders && to != has_all) steps.send(to, parts.range(Array::output, inside.rank));
        if (from < leaders && inside.rank != has_all) steps.receive(from, parts.range(Array::output, from));
    }
}

}  // namespace heddle::spmd::algorithms
