// Moves elements between two arrays by two-dimensional copies. It copies rows if both arrays have neighbours
// in the same dimension. Otherwise it transposes tiles.
#include "model/spmd/movement.hpp"

#include <algorithm>
#include <utility>

#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::spmd {

/// `count` runs of `length` adjacent elements. Places are those of the dimension.
struct Movement::Runs {
    Index from, to, length, count, from_step, to_step;
};

/// `count` elements at equal steps.
struct Movement::Line {
    Index from, to, count, from_step, to_step;
};

namespace {

/// The elements `begin` to `end` of a strip, in its order.
template <class Runs>
void add_runs(std::vector<Runs>& all, const Strip& strip, Index begin, Index end) {
    const Index of_repeat = strip.length * strip.count;
    for (Index repeat = begin / of_repeat; repeat * of_repeat < end; ++repeat) {
        const Index from = strip.from + repeat * strip.from_stride;
        const Index to = strip.to + repeat * strip.to_stride;
        Index at = std::max(begin, repeat * of_repeat) - repeat * of_repeat;
        const Index last = std::min(end - repeat * of_repeat, of_repeat);
        while (at < last) {
            const Index run = at / strip.length, within = at % strip.length;
            const Index whole = within == 0 ? (last - at) / strip.length : 0;
            const Index length = whole > 0 ? strip.length : std::min(strip.length - within, last - at);
            const Index count = std::max<Index>(whole, 1);
            all.push_back({from + run * strip.from_step + within, to + run * strip.to_step + within, length,
                           count, strip.from_step, strip.to_step});
            at += length * count;
        }
    }
}

template <class Line, class Runs>
void add_lines(std::vector<Line>& all, const Runs& runs) {
    const bool adjacent = runs.from_step == runs.length && runs.to_step == runs.length;
    if (runs.count == 1 || adjacent) {
        all.push_back({runs.from, runs.to, runs.length * runs.count, 1, 1});
    } else if (runs.length <= runs.count) {
        for (Index i = 0; i < runs.length; ++i)
            all.push_back({runs.from + i, runs.to + i, runs.count, runs.from_step, runs.to_step});
    } else {
        for (Index i = 0; i < runs.count; ++i)
            all.push_back({runs.from + i * runs.from_step, runs.to + i * runs.to_step, runs.length, 1, 1});
    }
}

}  // namespace

/// What one of several threads moves: a share of the dimension that has the most elements.
struct Movement::Part {
    Part(const std::vector<MovedDimension>& dimensions, std::uint32_t part, std::uint32_t parts)
        : runs(dimensions.size()), lines(dimensions.size()) {
        std::size_t divided = 0;
        std::vector<Index> sizes;
        for (const MovedDimension& dimension : dimensions) sizes.push_back(size_of(dimension.strips));
        for (std::size_t d = 0; d < sizes.size(); ++d)
            if (sizes[d] > sizes[divided]) divided = d;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const bool shared = d == divided;
            add(d, dimensions[d].strips, shared ? border(sizes[d], part, parts) : 0,
                shared ? border(sizes[d], part + 1, parts) : sizes[d]);
        }
    }

    std::vector<std::vector<Runs>> runs;
    std::vector<std::vector<Line>> lines;

private:
    static Index border(Index size, std::uint32_t part, std::uint32_t parts) {
        return size / parts * part + std::min<Index>(part, size % parts);
    }
    void add(std::size_t dimension, const std::vector<Strip>& strips, Index begin, Index end) {
        Index before = 0;
        for (const Strip& strip : strips) {
            const Index first = std::max(begin, before), last = std::min(end, before + strip.size());
            if (first < last) add_runs(runs[dimension], strip, first - before, last - before);
            before += strip.size();
        }
        for (const Runs& each : runs[dimension]) add_lines(lines[dimension], each);
    }
};

Movement::Movement(std::vector<MovedDimension> dimensions)
    : dimensions_(std::move(dimensions)), across_(dimensions_.size()) {
    for (const MovedDimension& dimension : dimensions_) count_ *= size_of(dimension.strips);
    for (std::size_t d = 0; d + 1 < dimensions_.size(); ++d) {
        if (across_ == dimensions_.size() || dimensions_[d].from_stride <= dimensions_[across_].from_stride)
            across_ = d;
    }
    // Where rows are copied, those of the target's neighbours are copied together.
    if (straight() && dimensions_.size() > 1) across_ = dimensions_.size() - 2;
}

Movement Movement::contiguous(Index count, Index from, Index to) {
    std::vector<Strip> strips;
    if (count > 0) strips.push_back({.length = count, .from = from, .to = to});
    return Movement({{std::move(strips), 1, 1}});
}

bool Movement::straight() const {
    return dimensions_.back().from_stride == 1;
}

void Movement::each_place(const Part& part, std::size_t dimension, Index to, Index from,
                          const std::function<void(Index, Index)>& visit) const {
    if (dimension + 1 == dimensions_.size()) return visit(to, from);
    if (dimension == across_) return each_place(part, dimension + 1, to, from, visit);
    const MovedDimension& here = dimensions_[dimension];
    for (const Line& line : part.lines[dimension]) {
        for (Index i = 0; i < line.count; ++i)
            each_place(part, dimension + 1, to + (line.to + i * line.to_step) * here.to_stride,
                       from + (line.from + i * line.from_step) * here.from_stride, visit);
    }
}

void Movement::each_copy(const Part& part, Index e, const Visit& visit) const {
    using runtime::Copy;
    const std::size_t last = dimensions_.size() - 1;
    const MovedDimension& along = dimensions_[last];
    const bool alone = across_ == dimensions_.size();
    const MovedDimension& across = dimensions_[alone ? last : across_];
    const std::vector<Line> one{{0, 0, 1, 0, 0}};
    const std::vector<Line>& sweeps = alone ? one : part.lines[across_];
    const auto rows = [&](const Line& sweep, Index to, Index from) {
        for (const Runs& runs : part.runs[last]) {
            const Copy copy{runs.length * e,
                            runs.count,
                            sweep.count,
                            {runs.to_step * along.to_stride * e, sweep.to_step * across.to_stride * e},
                            {runs.from_step * e, sweep.from_step * across.from_stride * e}};
            visit(copy, to + runs.to * along.to_stride, from + runs.from);
        }
    };
    const auto tiles = [&](const Line& sweep, const Line& line, Index to, Index from) {
        const Index to_step = line.to_step * along.to_stride, from_step = line.from_step * along.from_stride;
        const Index to_sweep = sweep.to_step * across.to_stride,
                    from_sweep = sweep.from_step * across.from_stride;
        const Index side = tile_ > 0 ? tile_ : std::max(sweep.count, line.count);
        for (Index i = 0; i < sweep.count; i += side)
            for (Index j = 0; j < line.count; j += side)
                visit({e,
                       std::min(side, line.count - j),
                       std::min(side, sweep.count - i),
                       {to_step * e, to_sweep * e},
                       {from_step * e, from_sweep * e}},
                      to + i * to_sweep + j * to_step, from + i * from_sweep + j * from_step);
    };
    each_place(part, 0, 0, 0, [&](Index to, Index from) {
        for (const Line& sweep : sweeps) {
            const Index to_here = to + sweep.to * across.to_stride;
            const Index from_here = from + sweep.from * across.from_stride;
            if (straight()) {
                rows(sweep, to_here, from_here);
                continue;
            }
            for (const Line& line : part.lines[last])
                tiles(sweep, line, to_here + line.to * along.to_stride,
                      from_here + line.from * along.from_stride);
        }
    });
}

void Movement::move(runtime::Strand& self, Index element_bytes, std::byte* to, const std::byte* from,
                    std::uint32_t part, std::uint32_t parts) const {
    if (count_ == 0) return;
    const Part mine(dimensions_, part, parts);
    runtime::Worker& worker = self.worker();
    const Cache& cache = worker.node().topology().cache;
    runtime::Work work;
    each_copy(mine, element_bytes,
              [&](const runtime::Copy& copy, Index, Index) { work.bytes += copy.bytes_moved(cache); });
    if (work.bytes == 0) return;
    if (to == nullptr) return worker.compute(work, {});
    worker.compute(work, [&] {
        each_copy(mine, element_bytes, [&](const runtime::Copy& copy, Index to_place, Index from_place) {
            copy.carry_out(to + to_place * element_bytes, from + from_place * element_bytes);
        });
    });
}

}  // namespace heddle::spmd
