// A square matrix in tiles, from which a workload's factorization begins. A number depends on its place and a
// seed only, so every node can compute any tile and no message carries it. A sparse matrix is one of dense
// tiles, most of which are absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/tile_kernels.hpp"

namespace heddle::workloads::tiles {

/// Whether a sparse matrix has the tile: the diagonal, the tiles beside it, and of the even rows and columns
/// those where the smaller of both is a multiple of 3. This is the matrix of `sparselu` in BOTS (Duran et
/// al., "Barcelona OpenMP Tasks Suite", ICPP 2009) and KASTORS.
bool sparse_matrix_has(std::uint32_t row, std::uint32_t column);

/// Random numbers in [0, 1), and on the diagonal n more, for n rows: diagonally dominant by rows and columns,
/// and where symmetric, positive definite. Tiles that a sparse matrix has not are zero.
struct Matrix {
    std::uint32_t tiles = 1;      ///< in each row
    std::uint32_t tile_size = 1;  ///< numbers in each row of a tile
    std::uint64_t seed = 1;
    bool symmetric = false;  ///< only its tiles on and below the diagonal are stored
    bool sparse = false;     ///< only the tiles that `sparse_matrix_has` are stored

    std::size_t rows() const { return std::size_t{tiles} * tile_size; }
    std::size_t numbers_of_tile() const { return std::size_t{tile_size} * tile_size; }
    std::size_t stored_tiles() const;
    bool stores(std::uint32_t row, std::uint32_t column) const {
        return (!symmetric || row >= column) && (!sparse || sparse_matrix_has(row, column));
    }

    /// The number in a row and column of the whole matrix.
    double at(std::size_t row, std::size_t column) const;

    /// Writes the tile in a row and column of tiles.
    void make(std::uint32_t row, std::uint32_t column, Tile tile) const;
};

/// Which tiles there are.
class Pattern {
public:
    /// Of so many rows and columns; none is there.
    explicit Pattern(std::uint32_t tiles) : tiles_(tiles), present_(std::size_t{tiles} * tiles) {}
    /// Those that the matrix stores.
    explicit Pattern(const Matrix& matrix);

    std::uint32_t tiles() const { return tiles_; }
    bool has(std::uint32_t row, std::uint32_t column) const { return present_[index(row, column)]; }
    void add(std::uint32_t row, std::uint32_t column) { present_[index(row, column)] = true; }
    std::size_t count() const;

    bool operator==(const Pattern&) const = default;

private:
    std::size_t index(std::uint32_t row, std::uint32_t column) const {
        return std::size_t{row} * tiles_ + column;
    }
    std::uint32_t tiles_;
    std::vector<bool> present_;
};

/// The tiles of L and U of A = L U without exchanging rows: (i, j) is there if the graph of A has a path from
/// i to j whose other vertices are smaller than both (Rose, Tarjan: "Algorithmic aspects of vertex
/// elimination on directed graphs", SIAM J. Appl. Math. 34, 1978). All tiles of the diagonal must be there.
Pattern filled_in(const Pattern& a);

/// The tiles of a factor: tile (row, column) is number row * tiles + column; null where none is stored.
using Factor = std::vector<const double*>;

/// ||A - L L^T|| / ||A|| in the Frobenius norm. All stored tiles of L must be there.
double cholesky_residual(const Matrix& matrix, const Factor& factor);

/// ||A - L U|| / ||A||, where the tiles hold L below the diagonal and U from there. Absent tiles are zero.
double lu_residual(const Matrix& matrix, const Factor& factor);

}  // namespace heddle::workloads::tiles
