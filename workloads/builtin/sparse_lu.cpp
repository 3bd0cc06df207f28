// sparse_lu: factorizes A = L U of a sparse matrix of dense blocks, without exchanging rows, as a plain loop
// of forks. The program is that of `sparselu` in BOTS (Duran et al., ICPP 2009) and KASTORS; a block that
// fills in is made by the task that writes it first.
#include "workloads/dataflow_tiles.hpp"

namespace heddle::workloads {

namespace {

using namespace dataflow;

void lu0(Thread& self, shared_rw<SharedTile> diagonal) {
    const std::size_t rows = rows_of(diagonal.read());
    kernel(self, cube(rows) * 2 / 3, [&] { tiles::getrf(rows, diagonal.value()); });
}

void fwd(Thread& self, shared_r<SharedTile> diagonal, shared_rw<SharedTile> right) {
    const std::size_t rows = rows_of(diagonal.read());
    kernel(self, cube(rows), [&] { tiles::solve_left_unit_lower(rows, diagonal.read(), right.value()); });
}

void bdiv(Thread& self, shared_r<SharedTile> diagonal, shared_rw<SharedTile> below) {
    const std::size_t rows = rows_of(diagonal.read());
    kernel(self, cube(rows), [&] { tiles::solve_right_upper(rows, diagonal.read(), below.value()); });
}

void bmod(Thread& self, shared_r<SharedTile> below, shared_r<SharedTile> right, shared_rw<SharedTile> inner) {
    const std::size_t rows = rows_of(below.read());
    kernel(self, 2 * cube(rows),
           [&] { tiles::subtract_product(rows, below.read(), right.read(), inner.value()); });
}

/// The same of a block that is zero until then.
void bmod_fill_in(Thread& self, shared_r<SharedTile> below, shared_r<SharedTile> right,
                  shared_w<SharedTile> inner) {
    const std::size_t rows = rows_of(below.read());
    kernel(self, 2 * cube(rows), [&] {
        tiles::subtract_product(rows, below.read(), right.read(), inner.make(below.read().size()));
    });
}

/// The products of step k.
void fork_products(Thread& self, SharedTiles& a, std::uint32_t k) {
    for (std::uint32_t i = k + 1; i < a.count(); ++i) {
        if (!a.has(i, k)) continue;
        for (std::uint32_t j = k + 1; j < a.count(); ++j) {
            if (!a.has(k, j)) continue;
            a.costs_thirds(6);
            if (a.has(i, j)) {
                self.fork<bmod>(a.tile(i, k), a.tile(k, j), a.tile(i, j));
            } else {
                self.fork<bmod_fill_in>(a.tile(i, k), a.tile(k, j), a.tile(i, j));
                a.add(i, j);
            }
        }
    }
}

void factorize(Thread& self, SharedTiles& a) {
    for (std::uint32_t k = 0; k < a.count(); ++k) {
        a.costs_thirds(2);
        self.fork<lu0>(a.tile(k, k));
        for (std::uint32_t j = k + 1; j < a.count(); ++j) {
            if (!a.has(k, j)) continue;
            a.costs_thirds(3);
            self.fork<fwd>(a.tile(k, k), a.tile(k, j));
        }
        for (std::uint32_t i = k + 1; i < a.count(); ++i) {
            if (!a.has(i, k)) continue;
            a.costs_thirds(3);
            self.fork<bdiv>(a.tile(k, k), a.tile(i, k));
        }
        fork_products(self, a, k);
    }
}

const DataflowTiles algorithm{false,
                              true,
                              "||A - L U|| / ||A||",
                              factorize,
                              tiles::lu_residual,
                              lu_closures,
                              {&Task<lu0>::travelling, &Task<fwd>::travelling, &Task<bdiv>::travelling,
                               &Task<bmod>::travelling, &Task<bmod_fill_in>::travelling}};

const Registration registration{
    {"sparse_lu",
     "LU factorization, without pivoting, of a sparse matrix of dense blocks, as a loop of dataflow tasks",
     DataflowTileWorkload::settings(), [](const Settings& settings) -> std::unique_ptr<Workload> {
         return std::make_unique<DataflowTileWorkload>(algorithm, settings);
     }}};

}  // namespace

const DataflowTiles& sparse_lu() {
    return algorithm;
}

}  // namespace heddle::workloads
