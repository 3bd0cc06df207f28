// A square matrix in tiles: its numbers before it is factorized, and the tiles of its factor. A number
// depends on its place and a seed only, so every node can compute any tile and no message carries it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/tile_kernels.hpp"

namespace heddle::workloads::tiles {

/// Random numbers in [0, 1), and on the diagonal n more, for n rows: diagonally dominant by rows and columns,
/// and where symmetric, positive definite.
struct Matrix {
    std::uint32_t tiles = 1;      ///< in each row
    std::uint32_t tile_size = 1;  ///< numbers in each row of a tile
    std::uint64_t seed = 1;
    bool symmetric = false;  ///< only its tiles on and below the diagonal are stored

    std::size_t rows() const { return std::size_t{tiles} * tile_size; }
    std::size_t numbers_of_tile() const { return std::size_t{tile_size} * tile_size; }
    std::size_t stored_tiles() const {
        return std::size_t{tiles} * (symmetric ? tiles + 1 : 2 * std::size_t{tiles}) / 2;
    }
    bool stores(std::uint32_t row, std::uint32_t column) const { return !symmetric || row >= column; }

    /// The number in a row and column of the whole matrix.
    double at(std::size_t row, std::size_t column) const;

    /// Writes the tile in a row and column of tiles.
    void make(std::uint32_t row, std::uint32_t column, Tile tile) const;
};

/// The tiles of a factor: tile (row, column) is number row * tiles + column; null where none is stored.
using Factor = std::vector<const double*>;

/// ||A - L L^T|| / ||A|| in the Frobenius norm. All stored tiles of L must be there.
double cholesky_residual(const Matrix& matrix, const Factor& factor);

/// ||A - L U|| / ||A||, where the tiles hold L below the diagonal and U from there.
double lu_residual(const Matrix& matrix, const Factor& factor);

}  // namespace heddle::workloads::tiles
