// Orders the messages of an exchange, in which each rank sends other ranks what they need, and makes
// exchanges of blocks.
#include "model/spmd/exchange.hpp"

#include <fmt/format.h>

#include <bit>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace heddle::spmd {

const char* name_of(Exchange::Kind kind) {
    switch (kind) {
        case Exchange::Kind::redistribution:
            return "redistribute";
        case Exchange::Kind::shift:
            return "shift";
        case Exchange::Kind::transpose:
            return "transpose";
        case Exchange::Kind::all_to_some:
            return "all_to_some";
        case Exchange::Kind::all_gather:
            return "all_gather_some";
    }
    return "no exchange";
}

// In each round every rank meets at most one other, the same rank that meets it. A rank leaves a round when
// its partner has reached that round, and so the rank in the earliest round always goes on.
void Exchange::steps(const Call& call, Steps& steps) const {
    const RankId ranks = call.ranks;
    const auto pass = [](Index& place, Index count) { return std::exchange(place, place + count); };
    Index out = 0, in = 0;
    if (const Index own = count(call.rank, call.rank); own > 0)
        steps.copy({Array::output, pass(in, own), own},
                   {Array::input, sends_alike() ? 0 : pass(out, own), own});
    for (RankId round = 0; round < ranks; ++round) {
        const RankId other =
            std::has_single_bit(ranks) ? call.rank ^ round : (round + ranks - call.rank) % ranks;
        if (other == call.rank) continue;
        if (const Index there = count(call.rank, other); there > 0)
            steps.send(other, {Array::input, sends_alike() ? 0 : pass(out, there), there});
        if (const Index here = count(other, call.rank); here > 0)
            steps.receive(other, {Array::output, pass(in, here), here});
    }
}

Blocks::Blocks(RankId rank, std::vector<Index> to_each, std::vector<Index> from_each)
    : Blocks(Kind::all_to_some, rank, std::move(to_each), std::move(from_each)) {}

Blocks::Blocks(Kind kind, RankId rank, std::vector<Index> to_each, std::vector<Index> from_each)
    : Exchange(kind), rank_(rank), to_each_(std::move(to_each)), from_each_(std::move(from_each)) {
    if (to_each_[rank] == from_each_[rank]) return;
    throw Error(fmt::format("{}: rank {} gives itself {} elements, and takes {}", name_of(kind), rank,
                            to_each_[rank], from_each_[rank]),
                "what a rank gives itself must be what it takes of itself");
}

Blocks Blocks::gathered(RankId rank, std::vector<Index> from_each) {
    std::vector<Index> to_each(from_each.size(), from_each[rank]);
    return {Kind::all_gather, rank, std::move(to_each), std::move(from_each)};
}

Index Blocks::place_at_source(RankId to) const {
    return sends_alike() ? 0 : std::accumulate(to_each_.begin(), to_each_.begin() + to, Index{0});
}

Index Blocks::place_at_target(RankId from) const {
    return std::accumulate(from_each_.begin(), from_each_.begin() + from, Index{0});
}

Movement Blocks::packing(RankId from, RankId to) const {
    return Movement::contiguous(count(from, to), place_at_source(to), 0);
}

Movement Blocks::unpacking(RankId from, RankId to) const {
    return Movement::contiguous(count(from, to), 0, place_at_target(from));
}

Movement Blocks::own(RankId rank) const {
    return Movement::contiguous(count(rank, rank), place_at_source(rank), place_at_target(rank));
}

}  // namespace heddle::spmd
