// Bruck et al.: "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997, section 3 (the index operation, radix 2). Block j of a rank has to go j ranks ahead, and hops by the
// powers of two in j.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// Calls `run(first block, blocks, position among these)` for each run of blocks that hop in this round.
template <class Run>
RankId each_run(RankId ranks, RankId distance, const Run& run) {
    RankId position = 0;
    for (RankId first = distance; first < ranks; first += 2 * distance) {
        const RankId size = std::min(distance, ranks - first);
        run(first, size, position);
        position += size;
    }
    return position;
}

}  // namespace

void all_to_all_bruck(const Call& call, Steps& steps) {
    const RankId ranks = call.ranks;
    const RankId to_end = ranks - call.rank;
    const auto held = [&](RankId first, RankId size) {
        return blocks(call, Array::scratch, first, first + size);
    };
    const auto packed = [&](RankId position, RankId size) { return held(ranks + position, size); };
    steps.reserve(2 * ranks * call.count);
    steps.copy(held(0, to_end), blocks(call, Array::input, call.rank, ranks));
    steps.copy(held(to_end, call.rank), blocks(call, Array::input, 0, call.rank));
    for (RankId distance = 1; distance < ranks; distance *= 2) {
        const RankId hop = each_run(ranks, distance, [&](RankId first, RankId size, RankId position) {
            steps.copy(packed(position, size), held(first, size));
        });
        steps.send(call.after(distance), packed(0, hop));
        steps.receive(call.before(distance), packed(0, hop));
        each_run(ranks, distance, [&](RankId first, RankId size, RankId position) {
            steps.copy(held(first, size), packed(position, size));
        });
    }
    for (RankId j = 0; j < ranks; ++j) steps.copy(block(call, Array::output, call.before(j)), held(j, 1));
}

}  // namespace heddle::spmd::algorithms
