// Measures problems of KASTORS (kastors.hpp), written in the dataflow model, on one node. Sparse LU and
// Strassen are the shipped workloads' forks.
#include "bench/native/kastors.hpp"

#include "bench/native/dataflow_main.hpp"
#include "workloads/dataflow_strassen.hpp"
#include "workloads/dataflow_tiles.hpp"

namespace heddle::bench {

namespace {

using namespace dataflow;

// --- jacobi

/// One object a block.
using Grid = std::vector<shared<Numbers>>;

void save(Thread& /*self*/, shared_r<Numbers> estimate, shared_rw<Numbers> saved) {
    const Numbers& from = estimate.read();
    std::copy(from.begin(), from.end(), saved.value().begin());
}

void estimate(Thread& /*self*/, Poisson poisson, std::size_t row, std::size_t column, shared_r<Numbers> f,
              shared_r<Numbers> here, shared_r<Numbers> north, shared_r<Numbers> south,
              shared_r<Numbers> west, shared_r<Numbers> east, shared_rw<Numbers> next) {
    poisson.estimate(row, column, f.read().data(), here.read().data(), north.read().data(),
                     south.read().data(), west.read().data(), east.read().data(), next.value().data());
}

void sweep(Thread& self, const Poisson& poisson, const Grid& f, const Grid& saved, const Grid& next) {
    const std::size_t blocks = poisson.blocks, end = blocks - 1;
    for (std::size_t at = 0; at < saved.size(); ++at) self.fork<save>(next[at], saved[at]);
    for (std::size_t i = 0; i < blocks; ++i)
        for (std::size_t j = 0; j < blocks; ++j) {
            const std::size_t at = i * blocks + j;
            self.fork<estimate>(poisson, i, j, f[at], saved[at], saved[i == 0 ? at : at - blocks],
                                saved[i == end ? at : at + blocks], saved[j == 0 ? at : at - 1],
                                saved[j == end ? at : at + 1], next[at]);
        }
}

}  // namespace

Measured measure(const SparseLu& problem, int workers) {
    Measured measured;
    run(workers, [&](Thread& self) {
        for (int round = 0; round < 3; ++round) {
            workloads::SharedTiles matrix(self, problem.matrix);
            matrix.make_tiles(self);
            self.sync();
            const std::uint64_t before = self.forked();
            {
                const Clock clock(measured);
                workloads::sparse_lu().factorize(self, matrix);
                self.sync();
            }
            measured.tasks = static_cast<double>(self.forked() - before);
            Digest digest;
            for (std::uint32_t i = 0; i < matrix.count(); ++i)
                for (std::uint32_t j = 0; j < matrix.count(); ++j) {
                    if (!matrix.has(i, j)) continue;
                    digest.add(matrix.tile(i, j).read());
                    matrix.tile(i, j).write(workloads::SharedTile());  // its memory is the next round's
                }
            measured.value = digest.value();
        }
    });
    return measured;
}

Measured measure(const Strassen& problem, int workers) {
    const workloads::StrassenProduct product{problem.rows, problem.cutoff, problem.depth};
    Measured measured;
    run(workers, [&](Thread& self) {
        const shared<Square> a(self, Square(problem.rows)), b(self, Square(problem.rows));
        Square filled(problem.rows);
        strassen::fill(1, 0, filled);
        a.write(filled);
        strassen::fill(1, 1, filled);
        b.write(filled);
        for (int round = 0; round < 3; ++round) {
            const shared<Square> c(self);
            {
                const Clock clock(measured);
                workloads::fork_strassen(self, product, a, b, c);
                self.sync();
            }
            Digest digest;
            digest.add(c.read().numbers());
            measured.value = digest.value();
            c.write(Square(0));
        }
    });
    measured.tasks = static_cast<double>(workloads::strassen_closures(product));
    return measured;
}

Measured measure(const Jacobi& problem, int workers) {
    const Poisson& poisson = problem.poisson;
    Measured measured;
    run(workers, [&](Thread& self) {
        Grid f, saved, next;
        for (std::size_t i = 0; i < poisson.blocks; ++i)
            for (std::size_t j = 0; j < poisson.blocks; ++j) {
                Numbers block(poisson.rows * poisson.rows);
                saved.emplace_back(self, block);
                next.emplace_back(self, block);
                poisson.make_right_side(i, j, block);
                f.emplace_back(self, std::move(block));
            }
        for (int round = 0; round < 3; ++round) {
            for (std::size_t at = 0; at < next.size(); ++at) {
                Numbers block(poisson.rows * poisson.rows);
                poisson.make_estimate(at / poisson.blocks, at % poisson.blocks, block);
                next[at].write(std::move(block));
            }
            const std::uint64_t before = self.forked();
            {
                const Clock clock(measured);
                for (std::size_t i = 0; i < problem.sweeps; ++i) sweep(self, poisson, f, saved, next);
                self.sync();
            }
            measured.tasks = static_cast<double>(self.forked() - before);
            Digest digest;
            for (const auto& block : next) digest.add(block.read());
            measured.value = digest.value();
        }
    });
    return measured;
}

}  // namespace heddle::bench

int main(int count, char** words) {
    return heddle::bench::run_kastors("heddle_kastors", count, words);
}
