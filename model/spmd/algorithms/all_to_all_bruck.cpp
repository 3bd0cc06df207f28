// All-to-all in few rounds: ranks send several blocks in one message, and pass blocks on for other ranks.
// Bruck et al.: "Efficient algorithms for all-to-all communications in multiport message-passing systems",
// 1997, section 3 (the index operation). Block j of a rank must go j ranks ahead. It hops by the powers of
// the radix in j. A higher radix makes more messages of fewer blocks.
#include "model/spmd/algorithms/algorithms.hpp"

namespace heddle::spmd::algorithms {

namespace {

/// Calls `run(first block, blocks, position among these)` for each run of blocks that hop by `distance`: of
/// `step` blocks, one in every `period`. Returns how many blocks these are.
template <class Run>
RankId each_run(RankId ranks, RankId distance, RankId step, RankId period, const Run& run) {
    RankId position = 0;
    for (RankId first = distance; first < ranks; first += period) {
        const RankId size = std::min(step, ranks - first);
        run(first, size, position);
        position += size;
    }
    return position;
}

}  // namespace

template <RankId radix>
void all_to_all_bruck(const Call& call, Steps& steps) {
    const RankId ranks = call.ranks;
    const RankId to_end = ranks - call.rank;
    const auto held = [&](RankId first, RankId size) {
        return blocks(call, Array::scratch, first, first + size);
    };
    const auto packed = [&](RankId position, RankId size) { return held(ranks + position, size); };
    steps.reserve(Index{2} * ranks * call.count);
    steps.copy(held(0, to_end), blocks(call, Array::input, call.rank, ranks));
    steps.copy(held(to_end, call.rank), blocks(call, Array::input, 0, call.rank));
    for (RankId step = 1; step < ranks; step *= radix) {
        for (RankId distance = step; distance < std::min(ranks, radix * step); distance += step) {
            const auto each = [&](const auto& run) {
                return each_run(ranks, distance, step, radix * step, run);
            };
            const RankId hop = each([&](RankId first, RankId size, RankId position) {
                steps.copy(packed(position, size), held(first, size));
            });
            steps.send(call.after(distance), packed(0, hop));
            steps.receive(call.before(distance), packed(0, hop));
            each([&](RankId first, RankId size, RankId position) {
                steps.copy(held(first, size), packed(position, size));
            });
        }
    }
    for (RankId j = 0; j < ranks; ++j) steps.copy(block(call, Array::output, call.before(j)), held(j, 1));
}

template void all_to_all_bruck<2>(const Call&, Steps&);
template void all_to_all_bruck<4>(const Call&, Steps&);
template void all_to_all_bruck<8>(const Call&, Steps&);

}  // namespace heddle::spmd::algorithms
