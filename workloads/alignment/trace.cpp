// Follows an alignment backwards, through blocks that it computes again with the direction of each cell.
#include "workloads/alignment/trace.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace heddle::workloads::alignment {

namespace {

// Where the values of a cell come from, in a byte: H by two bits, and whether E and F open a gap.
constexpr unsigned from_nothing = 0, from_pair = 1, from_e = 2, from_f = 3, source = 3, e_opens = 4,
                   f_opens = 8;

/// The origins of the cells up to and with `from`, row by row.
std::vector<std::uint8_t> origins(const Scoring& scoring, std::span<const Letter> rows,
                                  std::span<const Letter> columns, const KeptEdges& edges) {
    const auto [open, extend] = scoring.gaps();
    const bool affine = scoring.gaps().affine();
    std::vector<std::uint8_t> result(rows.size() * columns.size());
    std::vector<Score> h(edges.row_h.begin(), edges.row_h.end()), f(columns.size());
    if (affine) std::copy_n(edges.row_f.begin(), columns.size(), f.begin());
    Score corner = edges.corner;
    auto origin = result.begin();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Score diagonal = corner;
        Score left = corner = edges.column_h[i];
        // Of linear gaps E and F are not known at the edges, nor needed: H - open is no less.
        Score e = affine ? edges.column_e[i] : left - open;
        for (std::size_t j = 0; j < columns.size(); ++j, ++origin) {
            const Score above = h[j];
            if (!affine && i == 0) f[j] = above - open;
            const Score pair = diagonal + scoring.of(rows[i], columns[j]);
            const bool opens_e = left - open >= e - extend, opens_f = above - open >= f[j] - extend;
            e = opens_e ? left - open : e - extend;
            f[j] = opens_f ? above - open : f[j] - extend;
            left = h[j] = std::max({0, pair, e, f[j]});
            diagonal = above;
            const unsigned from = left == 0      ? from_nothing
                                  : left == pair ? from_pair
                                  : left == e    ? from_e
                                                 : from_f;
            *origin = static_cast<std::uint8_t>(from | (opens_e ? e_opens : 0) | (opens_f ? f_opens : 0));
        }
    }
    return result;
}

/// The edges of all blocks of a matrix, before each block was computed.
class Grid {
public:
    Grid(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b, std::size_t block,
         Path path)
        : scoring_(scoring), a_(a), b_(b), block_(block), affine_(scoring.gaps().affine()) {
        const std::size_t down = (a.size() + block - 1) / block, across = (b.size() + block - 1) / block;
        row_h_.assign(down + 1, std::vector<Score>(b.size()));
        row_f_.assign(down + 1, std::vector<Score>(affine_ ? b.size() : 0));
        column_h_.assign(across + 1, std::vector<Score>(a.size()));
        column_e_.assign(across + 1, std::vector<Score>(affine_ ? a.size() : 0));
        for (std::size_t x = 0; x < across; ++x) {
            const Columns columns(scoring, part(b, x), path);
            for (std::size_t y = 0; y < down; ++y) compute(x, y, columns);
        }
    }

    const Best& best() const { return best_; }

    Alignment trace() const {
        Alignment result;
        if (best_.score == 0) return result;
        result.score = best_.score;
        result.a_end = best_.row + 1;
        result.b_end = best_.column + 1;
        std::size_t x = best_.column / block_, y = best_.row / block_;
        TracePoint point{best_.row % block_, best_.column % block_};
        for (;;) {
            point = trace_block(scoring_, part(a_, y), part(b_, x), kept(x, y), point, result.transcript);
            const bool up = point.left == TracePoint::Left::up || point.left == TracePoint::Left::both;
            const bool left = point.left == TracePoint::Left::left || point.left == TracePoint::Left::both;
            if ((!up && !left) || (up && y == 0) || (left && x == 0)) break;
            if (up) --y, point.row = block_ - 1;
            if (left) --x, point.column = block_ - 1;
        }
        std::reverse(result.transcript.begin(), result.transcript.end());
        result.a_begin = result.a_end;
        result.b_begin = result.b_end;
        for (const Edit& edit : result.transcript) {
            if (edit.kind != 'D') result.a_begin -= edit.count;
            if (edit.kind != 'I') result.b_begin -= edit.count;
        }
        return result;
    }

private:
    template <class T>
    std::span<T> part(std::span<T> whole, std::size_t number) const {
        const std::size_t first = number * block_;
        return whole.empty() ? whole : whole.subspan(first, std::min(block_, whole.size() - first));
    }

    void compute(std::size_t x, std::size_t y, const Columns& columns) {
        const auto next = [&](std::vector<std::vector<Score>>& lines, std::size_t line, std::size_t number) {
            const auto from = part(std::span(lines[line]), number),
                       to = part(std::span(lines[line + 1]), number);
            std::copy(from.begin(), from.end(), to.begin());
            return to;
        };
        const Edges edges{kept(x, y).corner, next(row_h_, y, x), next(row_f_, y, x), next(column_h_, x, y),
                          next(column_e_, x, y)};
        Best found = compute_block(part(a_, y), columns, edges);
        found.row += y * block_;
        found.column += x * block_;
        if (found.score > 0 && better(found, best_)) best_ = found;
    }

    KeptEdges kept(std::size_t x, std::size_t y) const {
        return {x == 0 || y == 0 ? 0 : row_h_[y][x * block_ - 1], part(std::span(row_h_[y]), x),
                part(std::span(row_f_[y]), x), part(std::span(column_h_[x]), y),
                part(std::span(column_e_[x]), y)};
    }

    const Scoring& scoring_;
    std::span<const Letter> a_, b_;
    std::size_t block_;
    bool affine_;
    std::vector<std::vector<Score>> row_h_, row_f_;        // [y]: above the blocks of row y
    std::vector<std::vector<Score>> column_h_, column_e_;  // [x]: left of the blocks of column x
    Best best_;
};

}  // namespace

TracePoint trace_block(const Scoring& scoring, std::span<const Letter> rows, std::span<const Letter> columns,
                       const KeptEdges& edges, const TracePoint& from, Transcript& reversed) {
    HEDDLE_ASSERT(from.row < rows.size() && from.column < columns.size());
    // Nothing below or right of the cell matters.
    const std::size_t width = from.column + 1;
    KeptEdges part = edges;
    part.row_h = edges.row_h.first(width);
    const auto origin = origins(scoring, rows.first(from.row + 1), columns.first(width), part);

    using In = TracePoint::In;
    TracePoint at = from;
    for (;;) {
        const unsigned cell = origin[at.row * width + at.column];
        bool up = false, left = false;
        if (at.in == In::h) {
            const unsigned came = cell & source;
            if (came == from_nothing) {
                at.left = TracePoint::Left::no;
                return at;
            }
            if (came != from_pair) {
                at.in = came == from_e ? In::e : In::f;
                continue;
            }
            append(reversed, rows[at.row] == columns[at.column] ? '=' : 'X');
            up = left = true;
        } else if (at.in == In::e) {
            append(reversed, 'D');
            if (cell & e_opens) at.in = In::h;
            left = true;
        } else {
            append(reversed, 'I');
            if (cell & f_opens) at.in = In::h;
            up = true;
        }
        const bool over_top = up && at.row == 0, over_left = left && at.column == 0;
        if (up && !over_top) --at.row;
        if (left && !over_left) --at.column;
        if (over_top || over_left) {
            at.left = over_top && over_left ? TracePoint::Left::both
                      : over_top            ? TracePoint::Left::up
                                            : TracePoint::Left::left;
            return at;
        }
    }
}

Alignment align(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b,
                std::size_t block, Path path) {
    if (block == 0) throw Error("blocks of 0 letters", "use 1 or more; 1024 suits most sequences");
    return Grid(scoring, a, b, block, path).trace();
}

double align_bytes(const Scoring& scoring, std::size_t a, std::size_t b, std::size_t block) {
    const double edges = scoring.gaps().affine() ? 4 : 2;
    return edges * sizeof(Score) * static_cast<double>(a) * static_cast<double>(b) /
           static_cast<double>(block);
}

}  // namespace heddle::workloads::alignment
