// Computes any number of the test matrix from its place, and the residual of a factor.
#include "workloads/tile_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace heddle::workloads::tiles {

namespace {

ConstTile tile_of(const Matrix& matrix, const Factor& factor, std::uint32_t row, std::uint32_t column) {
    return {factor[std::size_t{row} * matrix.tiles + column], matrix.numbers_of_tile()};
}

/// Norms over the tiles of a matrix, of itself and of what is left of it.
class Norms {
public:
    explicit Norms(const Matrix& matrix) : matrix_(matrix), tile_(matrix.numbers_of_tile()) {}

    /// Makes a tile of the matrix and lets `reduce` subtract the product of the factors from it.
    template <class Reduce>
    void add(std::uint32_t row, std::uint32_t column, Reduce reduce) {
        const double times = matrix_.symmetric && row != column ? 2 : 1;  // the tile and its mirror image
        matrix_.make(row, column, tile_);
        whole_ += times * std::pow(norm(tile_), 2);
        reduce(Tile(tile_));
        left_ += times * std::pow(norm(tile_), 2);
    }
    double ratio() const { return std::sqrt(left_ / whole_); }

private:
    const Matrix& matrix_;
    std::vector<double> tile_;
    double whole_ = 0;
    double left_ = 0;
};

/// The lower triangle of a tile with ones on the diagonal, or the upper one with the tile's own diagonal.
std::vector<double> triangle(std::size_t size, ConstTile tile, bool lower) {
    std::vector<double> result(size * size);
    for (std::size_t column = 0; column < size; ++column) {
        const std::size_t begin = lower ? column + 1 : 0, end = lower ? size : column + 1;
        for (std::size_t row = begin; row < end; ++row)
            result[column * size + row] = tile[column * size + row];
        if (lower) result[column * size + column] = 1;
    }
    return result;
}

}  // namespace

bool sparse_matrix_has(std::uint32_t row, std::uint32_t column) {
    if (row <= column + 1 && column <= row + 1) return true;
    return row % 2 == 0 && column % 2 == 0 && std::min(row, column) % 3 == 0;
}

std::size_t Matrix::stored_tiles() const {
    if (sparse) return Pattern(*this).count();
    return std::size_t{tiles} * (symmetric ? tiles + 1 : 2 * std::size_t{tiles}) / 2;
}

Pattern::Pattern(const Matrix& matrix) : Pattern(matrix.tiles) {
    for (std::uint32_t row = 0; row < tiles_; ++row)
        for (std::uint32_t column = 0; column < tiles_; ++column)
            if (matrix.stores(row, column)) add(row, column);
}

std::size_t Pattern::count() const {
    return static_cast<std::size_t>(std::count(present_.begin(), present_.end(), true));
}

// Invariant: before step k, `reached` has the vertices to which a path from `row` leads whose other vertices
// are smaller than k.
Pattern filled_in(const Pattern& a) {
    Pattern filled = a;
    for (std::uint32_t row = 0; row < a.tiles(); ++row) {
        std::vector<bool> reached(a.tiles());
        for (std::uint32_t to = 0; to < a.tiles(); ++to) reached[to] = a.has(row, to);
        for (std::uint32_t k = 0; k < row; ++k) {
            if (!reached[k]) continue;
            filled.add(row, k);
            std::vector<std::uint32_t> from{k};
            while (!from.empty()) {
                const std::uint32_t last = from.back();
                from.pop_back();
                for (std::uint32_t to = 0; to < a.tiles(); ++to) {
                    if (!a.has(last, to) || reached[to]) continue;
                    reached[to] = true;
                    if (to < k) from.push_back(to);
                }
            }
        }
        for (std::uint32_t to = row; to < a.tiles(); ++to)
            if (reached[to]) filled.add(row, to);
    }
    return filled;
}

double Matrix::at(std::size_t row, std::size_t column) const {
    if (sparse && !sparse_matrix_has(static_cast<std::uint32_t>(row / tile_size),
                                     static_cast<std::uint32_t>(column / tile_size)))
        return 0;
    if (symmetric && row < column) std::swap(row, column);
    const std::uint64_t of_column = Random(seed).split(column)();
    const double number = Random(of_column + row).uniform();
    return row == column ? number + static_cast<double>(rows()) : number;
}

void Matrix::make(std::uint32_t row, std::uint32_t column, Tile tile) const {
    const std::size_t first_row = std::size_t{row} * tile_size;
    const std::size_t first_column = std::size_t{column} * tile_size;
    const bool mirrored = symmetric && row <= column;
    if (sparse && !sparse_matrix_has(row, column)) {
        std::ranges::fill(tile, 0.0);
        return;
    }
    for (std::size_t c = 0; c < tile_size; ++c) {
        double* numbers = tile.data() + c * tile_size;
        if (mirrored) {
            for (std::size_t r = 0; r < tile_size; ++r) numbers[r] = at(first_row + r, first_column + c);
            continue;
        }
        // The same as `at`, which takes three times as long.
        const std::uint64_t of_column = Random(seed).split(first_column + c)();
        for (std::size_t r = 0; r < tile_size; ++r) numbers[r] = Random(of_column + first_row + r).uniform();
        if (row == column) numbers[c] += static_cast<double>(rows());
    }
}

double cholesky_residual(const Matrix& matrix, const Factor& factor) {
    const std::size_t size = matrix.tile_size;
    Norms norms(matrix);
    for (std::uint32_t i = 0; i < matrix.tiles; ++i) {
        for (std::uint32_t j = 0; j <= i; ++j) {
            norms.add(i, j, [&](Tile tile) {
                for (std::uint32_t k = 0; k <= j; ++k)
                    subtract_product_transposed(size, tile_of(matrix, factor, i, k),
                                                tile_of(matrix, factor, j, k), tile);
            });
        }
    }
    return norms.ratio();
}

double lu_residual(const Matrix& matrix, const Factor& factor) {
    const std::size_t size = matrix.tile_size;
    std::vector<std::vector<double>> lower, upper;  // of the diagonal tiles, which hold both
    for (std::uint32_t k = 0; k < matrix.tiles; ++k) {
        lower.push_back(triangle(size, tile_of(matrix, factor, k, k), true));
        upper.push_back(triangle(size, tile_of(matrix, factor, k, k), false));
    }
    const auto has = [&](std::uint32_t row, std::uint32_t column) {
        return factor[std::size_t{row} * matrix.tiles + column] != nullptr;
    };
    Norms norms(matrix);
    for (std::uint32_t i = 0; i < matrix.tiles; ++i) {
        for (std::uint32_t j = 0; j < matrix.tiles; ++j) {
            norms.add(i, j, [&](Tile tile) {
                for (std::uint32_t k = 0; k <= std::min(i, j); ++k) {
                    if (!has(i, k) || !has(k, j)) continue;
                    subtract_product(size, k == i ? ConstTile(lower[k]) : tile_of(matrix, factor, i, k),
                                     k == j ? ConstTile(upper[k]) : tile_of(matrix, factor, k, j), tile);
                }
            });
        }
    }
    return norms.ratio();
}

}  // namespace heddle::workloads::tiles
