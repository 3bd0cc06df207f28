// The computations of tiled matrix algorithms, such as a Cholesky factorization in tasks. Each calls BLAS or
// LAPACK on a few tiles, which are square blocks of the matrix stored by columns.
#include "workloads/tile_kernels.hpp"

#include <algorithm>
#include <vector>

#include "workloads/blas.hpp"

namespace heddle::workloads::tiles {

namespace {

blasint whole(std::size_t number) {
    return static_cast<blasint>(number);
}

void solve(std::size_t size, CBLAS_SIDE side, CBLAS_UPLO half, CBLAS_TRANSPOSE transposed,
           CBLAS_DIAG diagonal, ConstTile triangle, Tile b) {
    const blasint n = whole(size);
    blas().dtrsm(CblasColMajor, side, half, transposed, diagonal, n, n, 1.0, triangle.data(), n, b.data(), n);
}

/// C := factor A B + before C, or A B^T.
void multiply(std::size_t size, CBLAS_TRANSPOSE transposed, double factor, ConstTile a, ConstTile b,
              double before, Tile c) {
    const blasint n = whole(size);
    blas().dgemm(CblasColMajor, CblasNoTrans, transposed, n, n, n, factor, a.data(), n, b.data(), n, before,
                 c.data(), n);
}

}  // namespace

void use_callers_thread_only() {
    (void)blas();
}

void potrf(std::size_t size, Tile a) {
    char half = 'L';
    blasint n = whole(size), info = 0;
    blas().dpotrf(&half, &n, a.data(), &n, &info);
    for (std::size_t column = 1; column < size; ++column)
        std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(column * size), column, 0.0);
}

void getrf(std::size_t size, Tile a) {
    blasint n = whole(size), info = 0;
    std::vector<blasint> exchanged(size);
    // Of a dominant column the pivot is on the diagonal already, so no row is exchanged.
    blas().dgetrf(&n, &n, a.data(), &n, exchanged.data(), &info);
}

void solve_right_transposed(std::size_t size, ConstTile l, Tile b) {
    solve(size, CblasRight, CblasLower, CblasTrans, CblasNonUnit, l, b);
}
void solve_left_unit_lower(std::size_t size, ConstTile l, Tile b) {
    solve(size, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, l, b);
}
void solve_right_upper(std::size_t size, ConstTile u, Tile b) {
    solve(size, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, u, b);
}

void set_product(std::size_t size, ConstTile a, ConstTile b, Tile c) {
    multiply(size, CblasNoTrans, 1, a, b, 0, c);
}
void subtract_square(std::size_t size, ConstTile a, Tile c) {
    const blasint n = whole(size);
    blas().dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1.0, a.data(), n, 1.0, c.data(), n);
}
void subtract_product(std::size_t size, ConstTile a, ConstTile b, Tile c) {
    multiply(size, CblasNoTrans, -1, a, b, 1, c);
}
void subtract_product_transposed(std::size_t size, ConstTile a, ConstTile b, Tile c) {
    multiply(size, CblasTrans, -1, a, b, 1, c);
}

double norm(ConstTile a) {
    return blas().dnrm2(whole(a.size()), a.data(), 1);
}

}  // namespace heddle::workloads::tiles
