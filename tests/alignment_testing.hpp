// For tests: a textbook Smith-Waterman with the whole matrix in 64 bits, and random sequences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "workloads/alignment/block.hpp"

namespace heddle::workloads::alignment {

/// H, E and F of every cell, with a row and a column of zeros before the first.
struct Textbook {
    Textbook(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b)
        : columns(b.size() + 1),
          h((a.size() + 1) * columns),
          e((a.size() + 1) * columns),
          f((a.size() + 1) * columns) {
        for (std::size_t i = 1; i <= a.size(); ++i) {
            for (std::size_t j = 1; j <= b.size(); ++j) {
                const std::size_t at = i * columns + j;
                e[at] = std::max(e[at - 1] - scoring.gaps().extend, h[at - 1] - scoring.gaps().open);
                f[at] =
                    std::max(f[at - columns] - scoring.gaps().extend, h[at - columns] - scoring.gaps().open);
                const std::int64_t pair = h[at - columns - 1] + scoring.of(a[i - 1], b[j - 1]);
                h[at] = std::max({std::int64_t{0}, pair, e[at], f[at]});
                if (h[at] > best.score) best = {static_cast<Score>(h[at]), i - 1, j - 1};
            }
        }
    }

    std::size_t columns;
    std::vector<std::int64_t> h, e, f;
    Best best;
};

inline Letters random_letters(Random& random, std::size_t size, int letters) {
    Letters result(size);
    for (Letter& letter : result)
        letter = static_cast<Letter>(random.below(static_cast<std::uint64_t>(letters)));
    return result;
}

/// The letters with some of them changed, left out, doubled: so that alignments are long, with gaps.
inline Letters relative_of(Random& random, std::span<const Letter> letters, int alphabet, double change) {
    Letters result;
    for (const Letter letter : letters) {
        if (random.uniform() >= change) {
            result.push_back(letter);
            continue;
        }
        const std::uint64_t kind = random.below(4);
        if (kind == 0) continue;
        if (kind == 1) result.insert(result.end(), random.below(12), letter);
        result.push_back(static_cast<Letter>(random.below(static_cast<std::uint64_t>(alphabet))));
    }
    return result;
}

/// The edges of a matrix that is computed in blocks: what blocks hand on to each other.
class Blocks {
public:
    Blocks(const Scoring& scoring, std::span<const Letter> a, std::span<const Letter> b, Path path,
           std::size_t height, std::size_t width, bool narrow = true)
        : row_h(b.size()), row_f(b.size()), column_h(a.size()), column_e(a.size()) {
        const bool affine = scoring.gaps().affine();
        for (std::size_t j = 0; j < b.size(); j += width) {
            const std::size_t columns = std::min(width, b.size() - j);
            const Columns prepared(scoring, b.subspan(j, columns), path, narrow);
            std::fill(column_h.begin(), column_h.end(), 0);
            std::fill(column_e.begin(), column_e.end(), 0);
            if (j > 0) {
                column_h = right_h;
                column_e = right_e;
            }
            Score corner = 0;
            for (std::size_t i = 0; i < a.size(); i += height) {
                const std::size_t rows = std::min(height, a.size() - i);
                Edges edges{corner,
                            std::span(row_h).subspan(j, columns),
                            {},
                            std::span(column_h).subspan(i, rows),
                            {}};
                if (affine) {
                    edges.row_f = std::span(row_f).subspan(j, columns);
                    edges.column_e = std::span(column_e).subspan(i, rows);
                }
                corner = edges.column_h.back();
                Best found = compute_block(a.subspan(i, rows), prepared, edges);
                found.row += i;
                found.column += j;
                if (found.score > 0 && better(found, best)) best = found;
            }
            right_h = column_h;
            right_e = column_e;
        }
    }

    std::vector<Score> row_h, row_f, column_h, column_e, right_h, right_e;
    Best best;
};

}  // namespace heddle::workloads::alignment
