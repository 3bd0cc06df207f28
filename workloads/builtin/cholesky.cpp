// cholesky: factorizes A = L L^T, symmetric positive definite, in tiles, by BLAS and LAPACK. Code shared with
// lu is in workloads/tile_factorization.hpp.
#include "workloads/tile_factorization.hpp"

namespace heddle::workloads {

namespace {

/// In the order of the generator's kernels.
enum Kernel : std::uint16_t { potrf, trsm, syrk, gemm };

void run(std::uint16_t kernel, std::size_t size, const std::vector<tiles::ConstTile>& reads,
         tiles::Tile tile) {
    switch (kernel) {
        case potrf:
            return tiles::potrf(size, tile);
        case trsm:
            return tiles::solve_right_transposed(size, reads[0], tile);
        case syrk:
            return tiles::subtract_square(size, reads[0], tile);
        default:
            return tiles::subtract_product_transposed(size, reads[0], reads[1], tile);
    }
}

const TileAlgorithm algorithm{"cholesky", true, "||A - L L^T|| / ||A||", run, tiles::cholesky_residual};

const Registration registration{{"cholesky",
                                 "tiled Cholesky factorization of a dense matrix, placed on the workers",
                                 tile_settings(), [](const Settings& settings) -> std::unique_ptr<Workload> {
                                     return std::make_unique<TileFactorization>(algorithm, settings);
                                 }}};

}  // namespace

}  // namespace heddle::workloads
