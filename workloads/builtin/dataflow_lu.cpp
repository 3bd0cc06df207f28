// dataflow_lu: factorizes A = L U, diagonally dominant, in tiles, without exchanging rows, as a plain loop of
// forks.
#include "workloads/dataflow_tiles.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

void getrf(Thread& self, shared_rw<SharedTile> a) {
    const std::size_t rows = rows_of(a.read());
    kernel(self, cube(rows) * 2 / 3, [&] { tiles::getrf(rows, a.value()); });
}

void solve_lower(Thread& self, shared_r<SharedTile> l, shared_rw<SharedTile> b) {
    const std::size_t rows = rows_of(l.read());
    kernel(self, cube(rows), [&] { tiles::solve_left_unit_lower(rows, l.read(), b.value()); });
}

void solve_upper(Thread& self, shared_r<SharedTile> u, shared_rw<SharedTile> b) {
    const std::size_t rows = rows_of(u.read());
    kernel(self, cube(rows), [&] { tiles::solve_right_upper(rows, u.read(), b.value()); });
}

void lu_gemm(Thread& self, shared_r<SharedTile> a, shared_r<SharedTile> b, shared_rw<SharedTile> c) {
    const std::size_t rows = rows_of(a.read());
    kernel(self, 2 * cube(rows), [&] { tiles::subtract_product(rows, a.read(), b.read(), c.value()); });
}

void factorize(Thread& self, SharedTiles& a) {
    for (std::uint32_t k = 0; k < a.count(); ++k) {
        a.costs_thirds(2);
        self.fork<getrf>(a.tile(k, k));
        for (std::uint32_t j = k + 1; j < a.count(); ++j) {
            a.costs_thirds(3);
            self.fork<solve_lower>(a.tile(k, k), a.tile(k, j));
        }
        for (std::uint32_t i = k + 1; i < a.count(); ++i) {
            a.costs_thirds(3);
            self.fork<solve_upper>(a.tile(k, k), a.tile(i, k));
        }
        for (std::uint32_t i = k + 1; i < a.count(); ++i)
            for (std::uint32_t j = k + 1; j < a.count(); ++j) {
                a.costs_thirds(6);
                self.fork<lu_gemm>(a.tile(i, k), a.tile(k, j), a.tile(i, j));
            }
    }
}

const DataflowTiles algorithm{false,
                              false,
                              "||A - L U|| / ||A||",
                              factorize,
                              tiles::lu_residual,
                              lu_closures,
                              {&Task<getrf>::travelling, &Task<solve_lower>::travelling,
                               &Task<solve_upper>::travelling, &Task<lu_gemm>::travelling}};

const Registration registration{
    {"dataflow_lu",
     "tiled LU factorization, without pivoting, of a dense matrix, as a loop of dataflow tasks",
     DataflowTileWorkload::settings(), [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowTileWorkload>(algorithm, settings);
     }}};

}  // namespace

const DataflowTiles& dataflow_lu() {
    return algorithm;
}

}  // namespace heddle::workloads
