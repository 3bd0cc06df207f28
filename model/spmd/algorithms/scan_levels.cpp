// Prefix sums (scan) in levels: in each group of near ranks by recursive doubling; then the last ranks of the
// groups, which have their groups' sums, find the sum of all groups before theirs, and spread it in their
// groups. With three levels they find it by groups of groups. Kielmann et al.: "MagPIe: MPI's collective
// communication operations for clustered wide area systems", 1999.
#include "model/spmd/algorithms/levels.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// A part of the scratch of so many elements.
Range room(const Call& call, RankId which) {
    return block(call, Array::scratch, which);
}
constexpr RankId sum = 0, other = 1, before = 2;

/// Recursive doubling. In room `sum` is the rank's own; it becomes that of all up to it. Room `into` becomes
/// that of all before it, if there is one.
void sums_before(const Call& call, RankId into, Steps& steps) {
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        if (distance < call.ranks - call.rank) steps.send(call.after(distance), room(call, sum));
        if (distance > call.rank) continue;
        steps.receive(call.before(distance), room(call, other));
        if (distance == 1) {
            steps.copy(room(call, into), room(call, other));
        } else {
            steps.fold(room(call, into), room(call, other), Comes::left);
        }
        steps.fold(room(call, sum), room(call, other), Comes::left);
    }
}

/// From the root down a tree.
void spread(const Call& call, const Range& range, Steps& steps) {
    const Tree<2> tree(call.from_root(), call.ranks);
    if (call.rank != call.root) steps.receive(call.before(tree.to_parent), range);
    tree.far_first([&](RankId distance, RankId /*size*/) { steps.send(call.after(distance), range); });
}

/// The ranks of a group, and their last one, which knows the sum of the group.
struct WithLast {
    WithLast(const Call& call, const Groups& groups)
        : group(groups.of(call.rank)),
          first(groups.first(group)),
          inside{call.rank - first, groups.size(group), groups.size(group) - 1, call.count, call.segment},
          among{group, groups.count(), 0, call.count, call.segment} {}

    bool is_last() const { return inside.rank == inside.root; }
    auto member_of() const {
        return [first = first](RankId number) { return first + number; };
    }
    static auto last_of(const Groups& groups) {
        return [&groups](RankId number) { return groups.first(number + 1) - 1; };
    }

    RankId group;
    RankId first;
    Call inside;
    Call among;
};

/// The same as `sums_before` in levels. It takes a room more for each.
void sums_before_in(const Call& call, const Groups* groups, RankId into, Steps& steps) {
    if (!groups || groups->count() == 1) return sums_before(call, into, steps);
    const WithLast level(call, *groups);
    Renumbered near(steps, level.member_of());
    sums_before(level.inside, into, near);
    const RankId of_groups = into + 1;
    if (level.is_last()) {
        Renumbered far(steps, WithLast::last_of(*groups));
        sums_before_in(level.among, groups->above(), of_groups, far);
    }
    if (level.group == 0) return;
    spread(level.inside, room(call, of_groups), near);
    if (level.inside.rank == 0) {
        steps.copy(room(call, into), room(call, of_groups));
    } else {
        steps.fold(room(call, into), room(call, of_groups), Comes::left);
    }
}

}  // namespace

template <int levels>
void scan_levels(const Call& call, Steps& steps) {
    const Groups* const groups = groups_of<levels>(call);
    if (!groups) return scan_recursive_doubling(call, steps);
    const WithLast level(call, *groups);
    const Range output = whole(call, Array::output);
    Renumbered near(steps, level.member_of());
    scan_recursive_doubling(level.inside, near);
    if (groups->count() == 1) return;
    steps.reserve((before + levels - 1) * call.count);
    if (level.is_last()) {
        Renumbered far(steps, WithLast::last_of(*groups));
        steps.copy(room(call, sum), output);
        sums_before_in(level.among, groups->above(), before, far);
    }
    if (level.group == 0) return;
    spread(level.inside, room(call, before), near);
    steps.fold(output, room(call, before), Comes::left);
}

template void scan_levels<2>(const Call&, Steps&);
template void scan_levels<3>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
