// Prepares a tile of an alignment matrix for the vector code, in small numbers relative to a base.
#include "workloads/alignment/tile.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.hpp"
#include "workloads/alignment/stripe_rows.hpp"

namespace heddle::workloads::alignment {

namespace {

// Of a stripe, in narrow numbers. The more there are, the less a row costs besides them; H, F and the scores
// of one letter should stay in an L1 cache.
constexpr std::size_t vectors_max = 64;
constexpr std::size_t columns_max = vectors_max * bytes_avx2;
constexpr std::size_t rows_max = 1024;  // of a tile

/// How much less than the least H the code in vectors computes: E and F, and what a mismatch leaves.
int room_below(const Scoring& scoring) {
    return std::max(scoring.gaps().open + scoring.gaps().extend, -scoring.least());
}

/// The rows and columns that the vector code computes at once.
template <class Number>
class Tile {
public:
    Tile(Rest& rest, const Columns& columns, const Columns::Stripe& stripe)
        : rest_(rest),
          edges_(rest.first(std::min(rest.rows.size(), rows_max))),
          columns_(columns),
          stripe_(stripe),
          profile_(columns.profile<Number>(stripe)),
          gaps_(columns.scoring().gaps()) {}

    bool compute(Best& best) {
        const std::size_t height = choose_base(), row = rest_.row;
        if (height == 0) return false;
        load(height);
        StripeRows<Number> task = prepare();
        // In rows above the best one an equal score is better, below it is not.
        const std::size_t rows_above = best.row > row ? best.row - row : 0;
        const std::size_t split = best.score > 0 ? std::min(rows_above, height) : 0;
        task.limit = relative(static_cast<std::int64_t>(best.score) - 1);
        task.row_end = split;
        if (split > 0) run(task);
        if (task.row_end == split) {
            if (!task.found) task.limit = relative(best.score);
            task.row = split;
            task.row_end = height;
            run(task);
        }
        store(task.row_end);
        if (task.found)
            best = {static_cast<Score>(task.limit + base_), row + task.best_row,
                    stripe_.first + place_of(task.limit)};
        rest_.drop(task.row_end, absolute(left_h_[task.row_end]));
        return true;
    }

private:
    static constexpr std::int64_t lowest = std::numeric_limits<Number>::min(),
                                  highest = std::numeric_limits<Number>::max();

    void run(StripeRows<Number>& task) const {
#if defined(__x86_64__)
        if (columns_.path() == Path::avx2) return stripe_rows_avx2(task, gaps_.affine());
#endif
        HEDDLE_ASSERT(columns_.path() == Path::portable);
        stripe_rows_portable(task, gaps_.affine());
    }

    /// Finds numbers that can be left out on both sides, and returns for how many rows the others, and what
    /// the first row adds to them, fit into numbers.
    std::size_t choose_base() {
        Score least = edges_.corner, most = edges_.corner;
        for (const Score value : edges_.row_h) least = std::min(least, value);
        for (const Score value : edges_.row_h) most = std::max(most, value);
        for (const Score value : edges_.column_h) least = std::min(least, value);
        // H is at least what a gap leaves of an edge.
        bottom_ = std::max<std::int64_t>(
            0, std::int64_t{least} - gaps_.open - static_cast<std::int64_t>(stripe_.width) * gaps_.extend);
        base_ = bottom_ - lowest - room_below(columns_.scoring());
        stop_ = highest - columns_.scoring().most();
        const auto fits = [&](Score value) { return value - base_ <= stop_; };
        if (!fits(most)) return 0;
        return static_cast<std::size_t>(
            std::find_if_not(edges_.column_h.begin(), edges_.column_h.end(), fits) - edges_.column_h.begin());
    }

    Score absolute(Number number) const {
        return static_cast<Score>(number + base_);
    }

    Number relative(std::int64_t value) const {
        return static_cast<Number>(std::clamp(value - base_, lowest, highest));
    }

    /// Calls what with a column of the stripe and the place of its number.
    template <class What>
    void each_column(What what) const {
        const std::size_t numbers = numbers_of<Number>(columns_.path());
        const std::size_t vectors = profile_.vectors, width = stripe_.width;
        for (std::size_t k = 0, column = 0; k < numbers; ++k)
            for (std::size_t vector = 0; vector < vectors && column < width; ++vector, ++column)
                what(column, vector * numbers + k);
    }

    // The loops take what they need by value: a narrow number may alias every member.

    void load(std::size_t height) {
        // No E or F matters that is less than this: each is at least what opening a gap leaves of an H.
        const Score least = static_cast<Score>(bottom_ - gaps_.open);
        const auto fitting = [base = static_cast<std::uint32_t>(base_)](Score value) {
            return static_cast<Number>(static_cast<std::uint32_t>(value) - base);
        };
        const std::size_t numbers = profile_.vectors * numbers_of<Number>(columns_.path());
        std::fill_n(h_.begin(), numbers, fitting(static_cast<Score>(bottom_)));
        each_column([to = h_.data(), from = edges_.row_h, fitting](std::size_t column, std::size_t at) {
            to[at] = fitting(from[column]);
        });
        left_h_[0] = fitting(edges_.corner);
        const auto left = edges_.column_h.first(height);
        std::transform(left.begin(), left.end(), left_h_.begin() + 1, fitting);
        const auto opened = [fitting, open = gaps_.open](Score value) { return fitting(value - open); };
        std::transform(left.begin(), left.end(), left_e_.begin(), opened);
        if (!gaps_.affine()) return;
        std::fill_n(f_.begin(), numbers, fitting(least));
        each_column(
            [to = f_.data(), from = edges_.row_f, fitting, least](std::size_t column, std::size_t at) {
                to[at] = fitting(std::max(least, from[column]));
            });
        const auto extended = [fitting, least, extend = gaps_.extend](Score value, Number other) {
            return std::max(other, fitting(std::max(least, value - extend)));
        };
        std::transform(edges_.column_e.begin(), edges_.column_e.begin() + static_cast<std::ptrdiff_t>(height),
                       left_e_.begin(), left_e_.begin(), extended);
    }

    StripeRows<Number> prepare() {
        StripeRows<Number> task{};
        task.letters = rest_.rows.data();
        task.left_h = left_h_.data();
        task.left_e = left_e_.data();
        task.right_h = right_h_.data();
        task.right_e = right_e_.data();
        task.vectors = profile_.vectors;
        task.scores = profile_.scores();
        task.h = h_.data();
        task.f = f_.data();
        task.last_vector = (stripe_.width - 1) % profile_.vectors;
        task.last_number = (stripe_.width - 1) / profile_.vectors;
        task.open = static_cast<Number>(gaps_.open);
        task.extend = static_cast<Number>(gaps_.extend);
        task.zero = relative(bottom_);
        task.least = relative(bottom_ - gaps_.open);
        task.stop = static_cast<Number>(stop_);
        task.loss_max = highest - task.least;
        task.best_h = best_h_.data();
        return task;
    }

    void store(std::size_t height) {
        const auto absolute = [base = static_cast<std::uint32_t>(base_)](Number number) {
            return static_cast<Score>(static_cast<std::uint32_t>(number) + base);
        };
        const auto columns = [&](std::span<Score> values, const Number* numbers) {
            each_column([to = values, numbers, absolute](std::size_t column, std::size_t at) {
                to[column] = absolute(numbers[at]);
            });
        };
        columns(edges_.row_h, h_.data());
        std::transform(right_h_.begin(), right_h_.begin() + height, edges_.column_h.begin(), absolute);
        if (!gaps_.affine()) return;
        columns(edges_.row_f, f_.data());
        std::transform(right_e_.begin(), right_e_.begin() + height, edges_.column_e.begin(), absolute);
    }

    /// The least column of the best row where H is `value`.
    std::size_t place_of(Number value) const {
        std::size_t place = stripe_.width;
        each_column([&](std::size_t column, std::size_t at) {
            if (best_h_[at] == value) place = std::min(place, column);
        });
        HEDDLE_ASSERT(place < stripe_.width);
        return place;
    }

    alignas(64) std::array<Number, columns_max> h_, f_, best_h_;
    std::array<Number, rows_max + 1> left_h_;
    std::array<Number, rows_max> left_e_, right_h_, right_e_;
    Rest& rest_;
    Edges edges_;
    const Columns& columns_;
    const Columns::Stripe& stripe_;
    const Columns::Profile<Number>& profile_;
    Gaps gaps_;
    std::int64_t bottom_ = 0;  // no H is less
    std::int64_t base_ = 0;    // what a number 0 stands for
    std::int64_t stop_ = 0;    // an H above it, less the base, lets the next row not fit
};

}  // namespace

Edges Rest::first(std::size_t height) const {
    Edges result = edges;
    result.column_h = edges.column_h.first(height);
    if (!edges.column_e.empty()) result.column_e = edges.column_e.first(height);
    return result;
}

void Rest::drop(std::size_t height, Score corner) {
    rows = rows.subspan(height);
    row += height;
    edges.corner = corner;
    edges.column_h = edges.column_h.subspan(height);
    if (!edges.column_e.empty()) edges.column_e = edges.column_e.subspan(height);
}

template <class Number>
bool holds(const Scoring& scoring) {
    // Without some more numbers than one score and gap take there is no use.
    return room_below(scoring) + scoring.most() <= std::numeric_limits<Number>::max() / 4;
}

std::size_t width_max(Path path) {
    return vectors_max * numbers_of<Narrow>(path);
}

template <class Number>
bool compute_tile(Rest& rest, const Columns& columns, const Columns::Stripe& stripe, Best& best) {
    return Tile<Number>(rest, columns, stripe).compute(best);
}

template bool holds<Narrow>(const Scoring&);
template bool holds<Wide>(const Scoring&);
template bool compute_tile<Narrow>(Rest&, const Columns&, const Columns::Stripe&, Best&);
template bool compute_tile<Wide>(Rest&, const Columns&, const Columns::Stripe&, Best&);

}  // namespace heddle::workloads::alignment
