// Broadcast by a k-nomial scatter of the array's parts, then an all-gather in few rounds. If the ranks are a
// power of two, the all-gather doubles recursively (Thakur, Rabenseifner, Gropp: "Optimization of collective
// communication operations in MPICH", 2005, section 4.2). Else it has the rounds of Bruck et al. 1997,
// section 4. There a rank's parts may wrap around the end of the array; then they are two messages.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

void gather_by_pairs(const Call& call, const Parts& parts, Steps& steps) {
    const RankId number = call.from_root();
    const auto group = [&](RankId of, RankId distance) {
        const RankId begin = of / distance * distance;
        return parts.range(Array::output, begin, begin + distance);
    };
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        const RankId other = number ^ distance;
        steps.send(call.of_root(other), group(number, distance));
        steps.receive(call.of_root(other), group(other, distance));
    }
}

/// Calls `piece` with the ranges of `size` parts from `first` on, around the end of the array.
template <class Piece>
void around(const Call& call, const Parts& parts, RankId first, RankId size, const Piece& piece) {
    const RankId to_end = std::min(size, call.ranks - first);
    piece(parts.range(Array::output, first, first + to_end));
    if (to_end < size) piece(parts.range(Array::output, 0, size - to_end));
}

/// Before a round the rank numbered v has the parts of v, v + 1, ..., v + distance - 1.
void gather_in_rounds(const Call& call, const Parts& parts, Steps& steps) {
    const RankId number = call.from_root();
    for (RankId distance = 1; distance < call.ranks; distance *= 2) {
        const RankId size = std::min(distance, call.ranks - distance);
        const RankId theirs = (number + distance) % call.ranks;
        around(call, parts, number, size, [&](const Range& own) { steps.send(call.before(distance), own); });
        around(call, parts, theirs, size,
               [&](const Range& other) { steps.receive(call.after(distance), other); });
    }
}

}  // namespace

template <RankId radix>
void broadcast_scatter_doubling(const Call& call, Steps& steps) {
    const Parts parts(call.count, call.ranks);
    scatter_parts<radix>(call, parts, steps);
    if (std::has_single_bit(call.ranks)) return gather_by_pairs(call, parts, steps);
    gather_in_rounds(call, parts, steps);
}

template void broadcast_scatter_doubling<2>(const Call&, Steps&);
template void broadcast_scatter_doubling<4>(const Call&, Steps&);
template void broadcast_scatter_doubling<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
