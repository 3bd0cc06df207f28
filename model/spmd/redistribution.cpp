// Finds the elements that move from one rank to another when an array's layout changes. A rank's part of an
// array is a product over the dimensions, so each dimension is intersected by itself.
#include "model/spmd/redistribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/fnv1a.hpp"

namespace heddle::spmd {

namespace {

std::vector<std::size_t> same_axes(const Layout& layout) {
    std::vector<std::size_t> axes(layout.dimensions());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
}

std::vector<std::int64_t> no_shift(const Layout& layout) {
    return std::vector<std::int64_t>(layout.dimensions(), 0);
}

std::vector<Index> extents_of(const Layout& layout) {
    std::vector<Index> extents;
    for (std::size_t d = 0; d < layout.dimensions(); ++d) extents.push_back(layout.dealt(d).extent());
    return extents;
}

/// Where the elements of a dimension go.
std::vector<Stretch> stretches(Index extent, std::int64_t by, Ends ends) {
    if (by == 0) return {{0, 0, extent}};
    const auto size = static_cast<std::int64_t>(extent);
    if (ends == Ends::circular) {
        const auto to = static_cast<Index>((by % size + size) % size);
        if (to == 0) return {{0, 0, extent}};
        return {{0, to, extent - to}, {extent - to, 0, to}};
    }
    if (by >= size || by <= -size) return {};
    const auto distance = static_cast<Index>(by > 0 ? by : -by);
    if (by > 0) return {{0, distance, extent - distance}};
    return {{distance, 0, extent - distance}};
}

/// The distances of neighbours in each dimension of a rank's array.
std::vector<Index> strides_of(const Layout& layout, RankId rank) {
    const std::vector<Index> extents = layout.extents(rank);
    std::vector<Index> strides(extents.size(), 1);
    for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
    return strides;
}

Index elements_of(const Layout& layout, RankId rank) {
    if (rank >= layout.nodes()) return 0;
    const std::vector<Index> extents = layout.extents(rank);
    return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
}

}  // namespace

Redistribution::Redistribution(Kind kind, const Layout& from, const Layout& to, std::vector<std::size_t> axes,
                               std::vector<std::int64_t> by, Ends ends)
    : Exchange(kind), from_(from), to_(to), axes_(std::move(axes)), by_(std::move(by)), ends_(ends) {
    check();
    fingerprint_ = hash();
}

Redistribution::Redistribution(const Layout& from, const Layout& to)
    : Redistribution(Kind::redistribution, from, to, same_axes(from), no_shift(to), Ends::circular) {}

Redistribution Redistribution::permuted(const Layout& from, const Layout& to, std::vector<std::size_t> axes) {
    return {Kind::redistribution, from, to, std::move(axes), no_shift(to), Ends::circular};
}

Redistribution Redistribution::transposed(const Layout& from, const Layout& to) {
    return {Kind::transpose, from, to, {1, 0}, no_shift(to), Ends::circular};
}

Redistribution Redistribution::shifted(const Layout& layout, std::vector<std::int64_t> by, Ends ends) {
    return {Kind::shift, layout, layout, same_axes(layout), std::move(by), ends};
}

void Redistribution::check() const {
    if (from_.dimensions() == 0 || from_.elements() == 0 || to_.elements() == 0)
        throw Error(fmt::format("{} of a layout of no elements", name_of(kind())),
                    "leave the call out where an array is empty");
    std::vector<std::size_t> sorted = axes_;
    std::ranges::sort(sorted);
    if (from_.dimensions() != to_.dimensions() || sorted != same_axes(from_))
        throw Error(fmt::format("{} from {} to {} dimensions by the axes {}", name_of(kind()),
                                from_.dimensions(), to_.dimensions(), fmt::join(axes_, ", ")),
                    "both layouts have as many dimensions, and the axes name each of them once");
    if (by_.size() != to_.dimensions())
        throw Error(
            fmt::format("a shift by {} distances of an array of {} dimensions", by_.size(), to_.dimensions()),
            "give one for each dimension, 0 where it is not shifted");
    for (std::size_t d = 0; d < axes_.size(); ++d) {
        if (to_.dealt(d).extent() == from_.dealt(axes_[d]).extent()) continue;
        throw Error(fmt::format("{} from an array of {} to one of {} elements", name_of(kind()),
                                fmt::join(extents_of(from_), " x "), fmt::join(extents_of(to_), " x ")),
                    "the layouts must have the same extents, in the order of the axes");
    }
}

std::uint32_t Redistribution::hash() const {
    Fnv1a hash;
    for (const Layout* layout : {&from_, &to_}) {
        for (std::size_t d = 0; d < layout->dimensions(); ++d) {
            const Dealt& dealt = layout->dealt(d);
            hash.add(dealt.extent());
            hash.add(dealt.block());
            hash.add(dealt.parts());
        }
    }
    for (const std::size_t axis : axes_) hash.add(axis);
    for (const std::int64_t by : by_) hash.add(static_cast<std::uint64_t>(by));
    hash.add(static_cast<std::uint64_t>(ends_));
    return static_cast<std::uint32_t>(hash.value() ^ hash.value() >> 32);
}

std::vector<Strip> Redistribution::strips(std::size_t dimension, RankId from, RankId to) const {
    const std::size_t axis = axes_[dimension];
    const Dealt& source = from_.dealt(axis);
    const Dealt& target = to_.dealt(dimension);
    std::vector<Strip> all;
    for (const Stretch& stretch : stretches(source.extent(), by_[dimension], ends_)) {
        const std::vector<Strip> these =
            common(source, from_.node_part(from, axis), target, to_.node_part(to, dimension), stretch);
        all.insert(all.end(), these.begin(), these.end());
    }
    return all;
}

Index Redistribution::count(RankId from, RankId to) const {
    if (from >= from_.nodes() || to >= to_.nodes()) return 0;
    Index product = 1;
    for (std::size_t d = 0; d < axes_.size() && product > 0; ++d) product *= size_of(strips(d, from, to));
    return product;
}

std::vector<MovedDimension> Redistribution::dimensions(RankId from, RankId to) const {
    const std::vector<Index> from_strides = strides_of(from_, from), to_strides = strides_of(to_, to);
    std::vector<MovedDimension> all;
    for (std::size_t d = 0; d < axes_.size(); ++d)
        all.push_back({strips(d, from, to), from_strides[axes_[d]], to_strides[d]});
    return all;
}

Movement Redistribution::movement(std::vector<MovedDimension> dimensions) const {
    Movement all(std::move(dimensions));
    all.set_tile(tile_);
    return all;
}

// A message has its elements in the order of the target, so the sender transposes.
Movement Redistribution::packing(RankId from, RankId to) const {
    std::vector<MovedDimension> all = dimensions(from, to);
    Index stride = 1;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        MovedDimension& dimension = *each;
        dimension.to_stride = stride;
        stride *= size_of(dimension.strips);
        dimension.strips = packed_at_target(std::move(dimension.strips));
    }
    return movement(std::move(all));
}

Movement Redistribution::unpacking(RankId from, RankId to) const {
    std::vector<MovedDimension> all = dimensions(from, to);
    Index stride = 1;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        MovedDimension& dimension = *each;
        dimension.from_stride = stride;
        stride *= size_of(dimension.strips);
        dimension.strips = packed_at_source(std::move(dimension.strips));
    }
    return movement(std::move(all));
}

Movement Redistribution::own(RankId rank) const {
    return movement(dimensions(rank, rank));
}

Index Redistribution::input_elements(RankId rank) const {
    return elements_of(from_, rank);
}

Index Redistribution::output_elements(RankId rank) const {
    return elements_of(to_, rank);
}

namespace detail {

void expect_arrays(RankId rank, RankId ranks, const Redistribution& what, Index in, Index out) {
    const char* const call = name_of(what.kind());
    if (what.ranks() > ranks)
        throw Error(fmt::format("{} with layouts over {} ranks, and there are {}", call, what.ranks(), ranks),
                    "deal the array out over the ranks that there are");
    const auto expect = [&](const char* array, Index has, Index needs) {
        if (has == needs) return;
        throw Error(fmt::format("{} with an {} of {} elements at rank {}, whose layout gives it {}", call,
                                array, has, rank, needs),
                    "a rank's array has the extents that Layout::extents names");
    };
    expect("input", in, what.input_elements(rank));
    expect("output", out, what.output_elements(rank));
}

void expect_blocks(RankId rank, RankId ranks, const char* call, std::span<const Index> counts,
                   Index elements) {
    if (counts.size() != ranks)
        throw Error(fmt::format("{} with {} counts, and there are {} ranks", call, counts.size(), ranks),
                    "give a count for each rank, 0 where there is nothing");
    const Index sum = std::accumulate(counts.begin(), counts.end(), Index{0});
    if (sum == elements) return;
    throw Error(fmt::format("{} at rank {} with an array of {} elements, whose counts are {} together", call,
                            rank, elements, sum),
                "an array has the blocks of all ranks, one after the other");
}

void expect_block(RankId rank, const char* call, Index count, Index elements) {
    if (count == elements) return;
    throw Error(fmt::format("{} at rank {} with an input of {} elements, whose count is {}", call, rank,
                            elements, count),
                "a rank's input is its own block");
}

}  // namespace detail

}  // namespace heddle::spmd
