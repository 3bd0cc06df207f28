#include "workloads/alignment/block.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "workloads/alignment/stripe_rows.hpp"

namespace heddle::workloads::alignment {

namespace {

constexpr std::size_t vectors_max =
    32;  // of a stripe: H, F and the scores of a few letters fit into an L1 cache
constexpr std::size_t width_max = vectors_max * numbers_avx2;
constexpr std::size_t rows_max =
    512;  // of a tile: then the values in it differ by less than 2^16 with usual scores
constexpr std::int64_t lowest = INT16_MIN, highest = INT16_MAX;

std::size_t numbers_of(Path path) {
    return path == Path::avx2 ? numbers_avx2 : numbers_portable;
}

StripeFunction function_of(Path path, bool affine) {
#if defined(__x86_64__)
    if (path == Path::avx2) return affine ? stripe_rows_avx2_affine : stripe_rows_avx2_linear;
#endif
    HEDDLE_ASSERT(path == Path::portable);
    return affine ? stripe_rows_portable_affine : stripe_rows_portable_linear;
}

/// One cell after the other, in 32 bits.
Best compute_plainly(std::span<const Letter> rows, std::span<const Letter> columns, const Scoring& scoring,
                     const Edges& edges) {
    const auto [open, extend] = scoring.gaps();
    const bool affine = scoring.gaps().affine();
    Best best;
    Score corner = edges.corner;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t* scores = scoring.row(rows[i]);
        Score diagonal = corner;
        Score left = corner = edges.column_h[i];
        Score e = affine ? edges.column_e[i] : left;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const Score above = edges.row_h[j];
            e = std::max(e - extend, left - open);
            Score f = above - open;
            if (affine) f = edges.row_f[j] = std::max(edges.row_f[j] - extend, f);
            left = std::max({0, diagonal + scores[columns[j]], e, f});
            edges.row_h[j] = left;
            diagonal = above;
            if (left > best.score) best = {left, i, j};
        }
        edges.column_h[i] = left;
        if (affine) edges.column_e[i] = e;
    }
    return best;
}

/// The rows and columns that the vector code computes at once, in 16 bits.
class Tile {
public:
    Tile(std::span<const Letter> rows, const Columns& columns, const Columns::Stripe& stripe,
         const Edges& edges)
        : rows_(rows), columns_(columns), stripe_(stripe), edges_(edges), gaps_(columns.scoring().gaps()) {}

    /// Computes it, and makes `best` the better one of it and what is here. The tile's first cell is at row,
    /// column.
    void compute(Best& best, std::size_t row, std::size_t column) {
        if (!choose_base()) {
            Best found = compute_plainly(rows_, columns_.letters().subspan(stripe_.first, stripe_.width),
                                         columns_.scoring(), edges_);
            found.row += row;
            found.column += column;
            if (better(found, best)) best = found;
            return;
        }
        load();
        StripeRows task = prepare();
        const StripeFunction function = function_of(columns_.path(), gaps_.affine());
        // In rows above the best one an equal score is better, below it is not.
        const std::size_t rows_above = best.row > row ? best.row - row : 0;
        std::size_t split = best.score > 0 ? std::min(rows_above, rows_.size()) : 0;
        task.limit = relative(static_cast<std::int64_t>(best.score) - 1);
        task.row_end = split;
        if (split > 0) function(task);
        if (!task.found) task.limit = relative(best.score);
        task.row = split;
        task.row_end = rows_.size();
        function(task);
        store();
        if (task.found)
            best = {static_cast<Score>(task.limit + base_), row + task.best_row,
                    column + place_of(task.limit)};
    }

private:
    /// Finds numbers that can be left out on both sides; false where the others do not fit into 16 bits.
    bool choose_base() {
        Score least = edges_.corner, most = edges_.corner;
        const auto see = [&](std::span<const Score> values) {
            for (const Score value : values) least = std::min(least, value);
            for (const Score value : values) most = std::max(most, value);
        };
        see(edges_.row_h);
        see(edges_.column_h);
        const auto width = static_cast<std::int64_t>(stripe_.width),
                   height = static_cast<std::int64_t>(rows_.size());
        const Scoring& scoring = columns_.scoring();
        // H is at least what a gap leaves of the left edge, and at most what matches add to an edge.
        bottom_ = std::max<std::int64_t>(0, std::int64_t{least} - gaps_.open - width * gaps_.extend);
        base_ = bottom_ - lowest - std::int64_t{2} * gaps_.open - std::max(0, -scoring.least());
        return most + (std::min(width, height) + 1) * scoring.most() - base_ <= highest;
    }

    /// Of a value that choose_base has seen to fit.
    std::int16_t fitting(Score value) const {
        return static_cast<std::int16_t>(static_cast<std::uint32_t>(value) -
                                         static_cast<std::uint32_t>(base_));
    }
    Score absolute(std::int16_t number) const { return static_cast<Score>(number + base_); }

    std::int16_t relative(std::int64_t value) const {
        return static_cast<std::int16_t>(std::clamp(value - base_, lowest, highest));
    }

    /// Calls what with a column of the stripe and the place of its number.
    template <class What>
    void each_column(What what) const {
        const std::size_t numbers = numbers_of(columns_.path());
        std::size_t column = 0;
        for (std::size_t k = 0; k < numbers; ++k)
            for (std::size_t vector = 0; vector < stripe_.vectors && column < stripe_.width;
                 ++vector, ++column)
                what(column, vector * numbers + k);
    }

    void load() {
        // No E or F matters that is less than this: each is at least what opening a gap leaves of an H.
        const Score least = static_cast<Score>(bottom_ - gaps_.open);
        const std::size_t numbers = stripe_.vectors * numbers_of(columns_.path());
        std::fill_n(h_.begin(), numbers, relative(bottom_));
        std::fill_n(f_.begin(), numbers, relative(least));
        each_column([&](std::size_t column, std::size_t at) {
            h_[at] = fitting(edges_.row_h[column]);
            if (gaps_.affine()) f_[at] = fitting(std::max(least, edges_.row_f[column]));
        });
        left_h_[0] = fitting(edges_.corner);
        for (std::size_t i = 0; i < rows_.size(); ++i) left_h_[i + 1] = fitting(edges_.column_h[i]);
        for (std::size_t i = 0; i < rows_.size(); ++i) left_e_[i] = fitting(edges_.column_h[i] - gaps_.open);
        for (std::size_t i = 0; i < edges_.column_e.size(); ++i)
            left_e_[i] = std::max(left_e_[i], fitting(std::max(least, edges_.column_e[i] - gaps_.extend)));
    }

    StripeRows prepare() {
        StripeRows task{};
        task.letters = rows_.data();
        task.left_h = left_h_.data();
        task.left_e = left_e_.data();
        task.right_h = right_h_.data();
        task.right_e = right_e_.data();
        task.vectors = stripe_.vectors;
        task.scores = stripe_.scores.front().numbers;
        task.h = h_.data();
        task.f = f_.data();
        task.last_vector = (stripe_.width - 1) % stripe_.vectors;
        task.last_number = (stripe_.width - 1) / stripe_.vectors;
        task.open = static_cast<std::int16_t>(gaps_.open);
        task.extend = static_cast<std::int16_t>(gaps_.extend);
        task.zero = relative(bottom_);
        task.least = relative(bottom_ - gaps_.open);
        task.loss_max = highest - task.least;
        task.best_h = best_h_.data();
        return task;
    }

    void store() {
        each_column([&](std::size_t column, std::size_t at) {
            edges_.row_h[column] = absolute(h_[at]);
            if (gaps_.affine()) edges_.row_f[column] = absolute(f_[at]);
        });
        for (std::size_t i = 0; i < rows_.size(); ++i) edges_.column_h[i] = absolute(right_h_[i]);
        for (std::size_t i = 0; i < edges_.column_e.size(); ++i) edges_.column_e[i] = absolute(right_e_[i]);
    }

    /// The least column of the best row where H is `value`.
    std::size_t place_of(std::int16_t value) const {
        std::size_t place = stripe_.width;
        each_column([&](std::size_t column, std::size_t at) {
            if (best_h_[at] == value) place = std::min(place, column);
        });
        HEDDLE_ASSERT(place < stripe_.width);
        return place;
    }

    std::span<const Letter> rows_;
    const Columns& columns_;
    const Columns::Stripe& stripe_;
    const Edges& edges_;
    Gaps gaps_;
    std::int64_t bottom_ = 0;  // no H is less
    std::int64_t base_ = 0;    // what a 16-bit number 0 stands for
    alignas(64) std::array<std::int16_t, width_max> h_, f_, best_h_;
    std::array<std::int16_t, rows_max + 1> left_h_;
    std::array<std::int16_t, rows_max> left_e_, right_h_, right_e_;
};

}  // namespace

bool available(Path path) {
#if defined(__x86_64__)
    return path != Path::avx2 || __builtin_cpu_supports("avx2");
#else
    return path != Path::avx2;
#endif
}

Path fastest_path() {
    static const Path path = available(Path::avx2) ? Path::avx2 : Path::portable;
    return path;
}

bool better(const Best& a, const Best& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.row != b.row ? a.row < b.row : a.column < b.column;
}

Columns::Columns(const Scoring& scoring, std::span<const Letter> letters, Path path)
    : scoring_(scoring), letters_(letters.begin(), letters.end()), path_(path) {
    if (!available(path)) throw Error("this processor has no AVX2", "use another path");
    constexpr int small = 4000;  // a few of them and some differences fit into 16 bits
    const auto [open, extend] = scoring.gaps();
    if (path == Path::plain || size() == 0 || scoring.most() > small || scoring.least() < -small ||
        open > small)
        return;
    // Stripes of equal width, as far as possible.
    const std::size_t numbers = numbers_of(path);
    const std::size_t count = (size() + vectors_max * numbers - 1) / (vectors_max * numbers);
    const std::size_t vectors = ((size() + count - 1) / count + numbers - 1) / numbers;
    // Nothing that a padding column has may be larger than what the columns before it have: a match of it is
    // no better than a gap.
    const auto padding = static_cast<std::int16_t>(std::min(scoring.least(), -open));
    for (std::size_t first = 0; first < size(); first += vectors * numbers) {
        const std::size_t width = std::min(size() - first, vectors * numbers);
        Stripe stripe{first, width, (width + numbers - 1) / numbers, {}};
        const std::size_t places = stripe.vectors * numbers;
        const std::size_t letter_count = static_cast<std::size_t>(scoring.letters());
        stripe.scores.resize((letter_count * places + 31) / 32);
        std::int16_t* scores = stripe.scores.front().numbers;
        std::fill_n(scores, letter_count * places, padding);
        for (std::size_t column = 0; column < width; ++column) {
            const std::size_t at = column % stripe.vectors * numbers + column / stripe.vectors;
            for (std::size_t letter = 0; letter < letter_count; ++letter)
                scores[letter * places + at] = static_cast<std::int16_t>(
                    scoring.of(static_cast<Letter>(letter), letters_[first + column]));
        }
        stripes_.push_back(std::move(stripe));
    }
}

Best compute_block(std::span<const Letter> rows, const Columns& columns, const Edges& edges) {
    const bool affine = columns.scoring().gaps().affine();
    HEDDLE_ASSERT(edges.row_h.size() == columns.size() && edges.column_h.size() == rows.size());
    HEDDLE_ASSERT(!affine || (edges.row_f.size() == columns.size() && edges.column_e.size() == rows.size()));
    if (columns.stripes().empty()) return compute_plainly(rows, columns.letters(), columns.scoring(), edges);

    Best best;
    Score corner_of_stripe = edges.corner;
    for (const Columns::Stripe& stripe : columns.stripes()) {
        Score corner = corner_of_stripe;
        corner_of_stripe = edges.row_h[stripe.first + stripe.width - 1];
        for (std::size_t row = 0; row < rows.size(); row += rows_max) {
            const std::size_t height = std::min(rows_max, rows.size() - row);
            Edges part{corner,
                       edges.row_h.subspan(stripe.first, stripe.width),
                       {},
                       edges.column_h.subspan(row, height),
                       {}};
            if (affine) {
                part.row_f = edges.row_f.subspan(stripe.first, stripe.width);
                part.column_e = edges.column_e.subspan(row, height);
            }
            corner = part.column_h.back();
            Tile(rows.subspan(row, height), columns, stripe, part).compute(best, row, stripe.first);
        }
    }
    return best;
}

}  // namespace heddle::workloads::alignment
