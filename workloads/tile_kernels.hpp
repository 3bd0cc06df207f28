// The computations on the tiles of a matrix: each is a call of BLAS or LAPACK on one core. No other file uses
// those libraries for tiles; tasks are made elsewhere.
#pragma once

#include <cstddef>
#include <span>

namespace heddle::workloads::tiles {

/// `size` x `size` numbers, column by column.
using Tile = std::span<double>;
using ConstTile = std::span<const double>;

/// Keeps the library to the thread that calls it. Call it before the kernels, from one thread.
void use_callers_thread_only();

/// A = L L^T of a symmetric positive definite A, of which the lower half is read; zeros above L. Where A is
/// none, what is left there is no factor: a check of the whole matrix finds it.
void potrf(std::size_t size, Tile a);

/// A = L U without exchanging rows, L with ones on its diagonal, which are not stored. Right for matrices
/// that are diagonally dominant by columns; where a row would have to be exchanged the result is no factor
/// of the matrix.
void getrf(std::size_t size, Tile a);

void solve_right_transposed(std::size_t size, ConstTile l, Tile b);  ///< B := B L^-T, L lower
void solve_left_unit_lower(std::size_t size, ConstTile l, Tile b);   ///< B := L^-1 B, L lower, ones on it
void solve_right_upper(std::size_t size, ConstTile u, Tile b);       ///< B := B U^-1, U upper

void set_product(std::size_t size, ConstTile a, ConstTile b, Tile c);       ///< C := A B
void subtract_square(std::size_t size, ConstTile a, Tile c);                ///< C -= A A^T, lower half
void subtract_product(std::size_t size, ConstTile a, ConstTile b, Tile c);  ///< C -= A B
void subtract_product_transposed(std::size_t size, ConstTile a, ConstTile b, Tile c);  ///< C -= A B^T

/// The root of the sum of the squares.
double norm(ConstTile a);

}  // namespace heddle::workloads::tiles
