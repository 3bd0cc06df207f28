// dataflow_cholesky: factorizes A = L L^T, symmetric positive definite, in tiles, as a plain loop of forks.
// The program states no order of tasks: it follows from the accesses to tiles.
#include "workloads/dataflow_tiles.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

void potrf(Thread& self, shared_rw<SharedTile> a) {
    const std::size_t rows = rows_of(a.read());
    kernel(self, cube(rows) / 3, [&] { tiles::potrf(rows, a.value()); });
}

void trsm(Thread& self, shared_r<SharedTile> l, shared_rw<SharedTile> b) {
    const std::size_t rows = rows_of(l.read());
    kernel(self, cube(rows), [&] { tiles::solve_right_transposed(rows, l.read(), b.value()); });
}

void syrk(Thread& self, shared_r<SharedTile> a, shared_rw<SharedTile> c) {
    const std::size_t rows = rows_of(a.read());
    kernel(self, cube(rows), [&] { tiles::subtract_square(rows, a.read(), c.value()); });
}

void gemm(Thread& self, shared_r<SharedTile> a, shared_r<SharedTile> b, shared_rw<SharedTile> c) {
    const std::size_t rows = rows_of(a.read());
    kernel(self, 2 * cube(rows),
           [&] { tiles::subtract_product_transposed(rows, a.read(), b.read(), c.value()); });
}

void factorize(Thread& self, SharedTiles& a) {
    for (std::uint32_t k = 0; k < a.count(); ++k) {
        a.costs_thirds(1);
        self.fork<potrf>(a.tile(k, k));
        for (std::uint32_t i = k + 1; i < a.count(); ++i) {
            a.costs_thirds(3);
            self.fork<trsm>(a.tile(k, k), a.tile(i, k));
        }
        for (std::uint32_t i = k + 1; i < a.count(); ++i) {
            for (std::uint32_t j = k + 1; j < i; ++j) {
                a.costs_thirds(6);
                self.fork<gemm>(a.tile(i, k), a.tile(j, k), a.tile(i, j));
            }
            a.costs_thirds(3);
            self.fork<syrk>(a.tile(i, k), a.tile(i, i));
        }
    }
}

const DataflowTiles algorithm{
    true,
    false,
    "||A - L L^T|| / ||A||",
    factorize,
    tiles::cholesky_residual,
    [](const tiles::Pattern& factor) {
        const std::uint64_t n = factor.tiles();
        return n * (n + 1) * (n + 2) / 6;
    },
    {&Task<potrf>::travelling, &Task<trsm>::travelling, &Task<syrk>::travelling, &Task<gemm>::travelling}};

const Registration registration{
    {"dataflow_cholesky", "tiled Cholesky factorization of a dense matrix, as a loop of dataflow tasks",
     DataflowTileWorkload::settings(), [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowTileWorkload>(algorithm, settings);
     }}};

}  // namespace

const DataflowTiles& dataflow_cholesky() {
    return algorithm;
}

}  // namespace heddle::workloads
