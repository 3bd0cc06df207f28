// Computes a block of an alignment matrix in stripes of columns; each stripe in vectors as far as numbers
// fit.
#include "workloads/alignment/block.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "workloads/alignment/stripe_rows.hpp"
#include "workloads/alignment/tile.hpp"

namespace heddle::workloads::alignment {

namespace {

constexpr std::size_t narrow_vectors_least = 8;  // fewer are no faster than twice as many wide ones
constexpr std::size_t rows_plain = 512;          // that are computed plainly before vectors are tried again

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

/// The next rows of a stripe.
void compute_plainly(Rest& rest, const Columns& columns, const Columns::Stripe& stripe, Best& best) {
    const std::size_t height = std::min(rows_plain, rest.rows.size());
    const Edges now = rest.first(height);
    const Score corner = now.column_h.back();
    Best found =
        compute_plainly(rest.rows.first(height), columns.letters().subspan(stripe.first, stripe.width),
                        columns.scoring(), now);
    found.row += rest.row;
    found.column += stripe.first;
    if (better(found, best)) best = found;
    rest.drop(height, corner);
}

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

Columns::Columns(const Scoring& scoring, std::span<const Letter> letters, Path path, bool narrow)
    : scoring_(scoring),
      letters_(letters.begin(), letters.end()),
      path_(path),
      narrow_(narrow && holds<Narrow>(scoring) &&
              letters.size() >= narrow_vectors_least * numbers_of<Narrow>(path)) {
    if (!available(path)) throw Error("this processor has no AVX2", "use another path");
    if (path == Path::plain || size() == 0 || !holds<Wide>(scoring)) return;
    // Stripes of equal width, as far as possible.
    const std::size_t numbers = narrow_ ? numbers_of<Narrow>(path) : numbers_of<Wide>(path);
    const std::size_t count = (size() + width_max(path) - 1) / width_max(path);
    const std::size_t step = ((size() + count - 1) / count + numbers - 1) / numbers * numbers;
    for (std::size_t first = 0; first < size(); first += step)
        stripes_.push_back({first, std::min(size() - first, step),
                            std::make_unique<decltype(Stripe::profiles)::element_type>()});
}

template <class Number>
const Columns::Profile<Number>& Columns::profile(const Stripe& stripe) const {
    auto& made = std::get<Stripe::Lazy<Number>>(*stripe.profiles).made;
    const Profile<Number>* first = made.load(std::memory_order_acquire);
    if (first != nullptr) return *first;
    auto mine = std::make_unique<const Profile<Number>>(make_profile<Number>(stripe));
    if (made.compare_exchange_strong(first, mine.get(), std::memory_order_acq_rel)) return *mine.release();
    return *first;
}
template const Columns::Profile<Narrow>& Columns::profile(const Stripe&) const;
template const Columns::Profile<Wide>& Columns::profile(const Stripe&) const;

template <class Number>
Columns::Profile<Number> Columns::make_profile(const Stripe& stripe) const {
    const std::size_t numbers = numbers_of<Number>(path_);
    Profile<Number> result{(stripe.width + numbers - 1) / numbers, {}};
    const std::size_t places = result.vectors * numbers;
    // The letter of each place; that of padding is one more than all.
    const auto letter_count = static_cast<std::size_t>(scoring_.letters());
    std::vector<Letter> letters(places, static_cast<Letter>(letter_count));
    for (std::size_t k = 0, column = 0; k < numbers; ++k)
        for (std::size_t vector = 0; vector < result.vectors && column < stripe.width; ++vector, ++column)
            letters[vector * numbers + k] = letters_[stripe.first + column];
    // Nothing that a padding column has may be larger than what the columns before it have: a match of it is
    // no better than a gap.
    std::array<Number, Scoring::letters_max + 1> row;
    row[letter_count] = static_cast<Number>(std::min(scoring_.least(), -scoring_.gaps().open));
    constexpr std::size_t in_line = 64 / sizeof(Number);
    result.lines.resize((letter_count * places + in_line - 1) / in_line);
    Number* to = result.lines.front().numbers;
    for (std::size_t letter = 0; letter < letter_count; ++letter) {
        for (std::size_t other = 0; other < letter_count; ++other)
            row[other] =
                static_cast<Number>(scoring_.of(static_cast<Letter>(letter), static_cast<Letter>(other)));
        for (const Letter other : letters) *to++ = row[other];
    }
    return result;
}

Best compute_block(std::span<const Letter> rows, const Columns& columns, const Edges& edges) {
    const bool affine = columns.scoring().gaps().affine();
    HEDDLE_ASSERT(edges.row_h.size() == columns.size() && edges.column_h.size() == rows.size());
    HEDDLE_ASSERT(!affine || (edges.row_f.size() == columns.size() && edges.column_e.size() == rows.size()));
    if (columns.stripes().empty()) return compute_plainly(rows, columns.letters(), columns.scoring(), edges);

    Best best;
    Score corner = edges.corner;
    for (const Columns::Stripe& stripe : columns.stripes()) {
        const auto part = [&](std::span<Score> values) { return values.subspan(stripe.first, stripe.width); };
        Rest rest{rows, 0, edges};
        rest.edges.corner = corner;
        rest.edges.row_h = part(edges.row_h);
        rest.edges.row_f = affine ? part(edges.row_f) : std::span<Score>();
        if (!affine) rest.edges.column_e = {};
        corner = rest.edges.row_h.back();
        while (!rest.rows.empty())
            if (!(columns.narrow() && compute_tile<Narrow>(rest, columns, stripe, best)) &&
                !compute_tile<Wide>(rest, columns, stripe, best))
                compute_plainly(rest, columns, stripe, best);
    }
    return best;
}

}  // namespace heddle::workloads::alignment
