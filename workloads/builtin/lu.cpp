// lu: factorizes A = L U, diagonally dominant, in tiles, without exchanging rows, by BLAS and LAPACK. Code
// shared with cholesky is in workloads/tile_factorization.hpp.
#include "workloads/tile_factorization.hpp"

namespace heddle::workloads {

namespace {

/// In the order of the generator's kernels.
enum Kernel : std::uint16_t { getrf, trsm_lower, trsm_upper, gemm };

void run(std::uint16_t kernel, std::size_t size, const std::vector<tiles::ConstTile>& reads,
         tiles::Tile tile) {
    switch (kernel) {
        case getrf:
            return tiles::getrf(size, tile);
        case trsm_lower:
            return tiles::solve_left_unit_lower(size, reads[0], tile);
        case trsm_upper:
            return tiles::solve_right_upper(size, reads[0], tile);
        default:
            return tiles::subtract_product(size, reads[0], reads[1], tile);
    }
}

const TileAlgorithm algorithm{"lu", false, "||A - L U|| / ||A||", run, tiles::lu_residual};

const Registration registration{
    {"lu", "tiled LU factorization, without pivoting, of a dense matrix, placed on the workers",
     tile_settings(), [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<TileFactorization>(algorithm, settings);
     }}};

}  // namespace

}  // namespace heddle::workloads
