// Intersects the blocks of two parts of a dimension. The blocks of one side that lie within one larger block
// of the other side form one strip; cut blocks form strips of their own.
#include "model/spmd/strips.hpp"

#include <algorithm>
#include <numeric>

#include "base/assert.hpp"

namespace heddle::spmd {

namespace {

/// A part's blocks, in positions of the stretch: position x is element `origin` + x.
struct PartBlocks {
    const Dealt& dealt;
    std::uint32_t part;
    Index origin;

    Index turn() const { return dealt.block() * dealt.parts(); }
    Index local(Index position) const { return dealt.local(origin + position); }
    /// Where block `number` of the part begins, as an element.
    Index begin(Index number) const { return dealt.block() * part + number * turn(); }
    /// The part's first block that ends after `element`.
    Index first_after(Index element) const {
        const Index end = begin(0) + dealt.block();
        return element < end ? 0 : (element - end) / turn() + 1;
    }
};

class Intersection {
public:
    Intersection(const PartBlocks& from, const PartBlocks& to)
        : from_(from),
          to_(to),
          from_is_coarse_(from.dealt.block() >= to.dealt.block()),
          coarse_(from_is_coarse_ ? from : to),
          fine_(from_is_coarse_ ? to : from) {}

    /// Positions from `begin` to `end`.
    void add(std::vector<Strip>& strips, Index begin, Index end) const {
        if (begin == end) return;
        const Index last = coarse_.origin + end;
        for (Index block = coarse_.first_after(coarse_.origin + begin); coarse_.begin(block) < last;
             ++block) {
            const Index here = std::max(coarse_.begin(block), coarse_.origin + begin);
            const Index there = std::min(coarse_.begin(block) + coarse_.dealt.block(), last);
            add_block(strips, here - coarse_.origin, there - coarse_.origin);
        }
    }

private:
    /// All within one block of the coarse side.
    void add_block(std::vector<Strip>& strips, Index begin, Index end) const {
        const Index first = fine_.origin + begin, last = fine_.origin + end;
        const Index size = fine_.dealt.block(), turn = fine_.turn();
        Index block = fine_.first_after(first);
        if (fine_.begin(block) < first) {
            strips.push_back(runs(first, std::min(fine_.begin(block) + size, last) - first, 1));
            ++block;
        }
        if (fine_.begin(block) >= last) return;
        if (const Index whole = (last - fine_.begin(block) + turn - size) / turn; whole > 0) {
            strips.push_back(runs(fine_.begin(block), size, whole));
            block += whole;
        }
        if (fine_.begin(block) < last)
            strips.push_back(runs(fine_.begin(block), last - fine_.begin(block), 1));
    }

    /// From an element of the fine side on. A part's blocks lie side by side there, and a turn apart within
    /// the block of the coarse side.
    Strip runs(Index element, Index length, Index count) const {
        const Index position = element - fine_.origin;
        const Index apart = fine_.turn(), adjacent = fine_.dealt.block();
        return {length,
                from_.local(position),
                to_.local(position),
                count,
                from_is_coarse_ ? apart : adjacent,
                from_is_coarse_ ? adjacent : apart};
    }

    const PartBlocks& from_;
    const PartBlocks& to_;
    bool from_is_coarse_;
    const PartBlocks& coarse_;
    const PartBlocks& fine_;
};

void repeat(Strip& strip, Index repeats, Index from_stride, Index to_stride) {
    if (strip.count == 1) {
        strip.count = repeats;
        strip.from_step = from_stride;
        strip.to_step = to_stride;
        return;
    }
    strip.repeats = repeats;
    strip.from_stride = from_stride;
    strip.to_stride = to_stride;
}

}  // namespace

std::vector<Strip> common(const Dealt& from, std::uint32_t from_part, const Dealt& to, std::uint32_t to_part,
                          const Stretch& stretch) {
    const PartBlocks source{from, from_part, stretch.from}, target{to, to_part, stretch.to};
    const Intersection both(source, target);
    std::vector<Strip> strips;
    HEDDLE_ASSERT(source.turn() != 0 && target.turn() != 0);
    const Index turns = target.turn() / std::gcd(source.turn(), target.turn());
    if (stretch.length / source.turn() < turns) {  // not even one period
        both.add(strips, 0, stretch.length);
        return strips;
    }
    const Index period = source.turn() * turns;
    const Index periods = stretch.length / period;
    both.add(strips, 0, period);
    for (Strip& strip : strips) repeat(strip, periods, period / from.parts(), period / to.parts());
    both.add(strips, periods * period, stretch.length);
    return strips;
}

Index size_of(const std::vector<Strip>& strips) {
    Index size = 0;
    for (const Strip& strip : strips) size += strip.size();
    return size;
}

std::vector<Strip> packed_at_target(std::vector<Strip> strips) {
    Index place = 0;
    for (Strip& strip : strips) {
        strip.to = place;
        strip.to_step = strip.length;
        strip.to_stride = strip.length * strip.count;
        place += strip.size();
    }
    return strips;
}

std::vector<Strip> packed_at_source(std::vector<Strip> strips) {
    Index place = 0;
    for (Strip& strip : strips) {
        strip.from = place;
        strip.from_step = strip.length;
        strip.from_stride = strip.length * strip.count;
        place += strip.size();
    }
    return strips;
}

}  // namespace heddle::spmd
