// Measures the problems of KASTORS (kastors.hpp) as OpenMP tasks with depend clauses. Memory is taken where
// Heddle's tasks take it.
#include <omp.h>

#include <algorithm>
#include <array>

#include "bench/native/kastors.hpp"

namespace heddle::bench {

namespace {

// --- sparse_lu

/// The factor's blocks; one that is absent is empty.
struct Blocks {
    std::uint32_t count;
    std::size_t rows;
    std::vector<Numbers> all;

    std::uint64_t tasks = 0;

    /// By one thread, while all of the team run the tasks. A block that fills in is made by its first task.
    void factorize() {
        tiles::Pattern present(count);
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::uint32_t j = 0; j < count; ++j)
                if (!all[std::size_t{i} * count + j].empty()) present.add(i, j);
        for (std::uint32_t k = 0; k < count; ++k) {
            divide_by_pivots(present, k);
            subtract_products(present, k);
        }
    }

private:
    Numbers* block(std::uint32_t i, std::uint32_t j) { return &all[std::size_t{i} * count + j]; }

    void divide_by_pivots(const tiles::Pattern& present, std::uint32_t k) {
        const std::size_t n = rows;
        Numbers* const pivot = block(k, k);
#pragma omp task default(none) firstprivate(n, pivot) depend(inout : *pivot)
        tiles::getrf(n, *pivot);
        ++tasks;
        for (std::uint32_t j = k + 1; j < count; ++j) {
            if (!present.has(k, j)) continue;
            Numbers* const right = block(k, j);
#pragma omp task default(none) firstprivate(n, pivot, right) depend(in : *pivot) depend(inout : *right)
            tiles::solve_left_unit_lower(n, *pivot, *right);
            ++tasks;
        }
        for (std::uint32_t i = k + 1; i < count; ++i) {
            if (!present.has(i, k)) continue;
            Numbers* const below = block(i, k);
#pragma omp task default(none) firstprivate(n, pivot, below) depend(in : *pivot) depend(inout : *below)
            tiles::solve_right_upper(n, *pivot, *below);
            ++tasks;
        }
    }

    void subtract_products(tiles::Pattern& present, std::uint32_t k) {
        const std::size_t n = rows;
        for (std::uint32_t i = k + 1; i < count; ++i) {
            if (!present.has(i, k)) continue;
            for (std::uint32_t j = k + 1; j < count; ++j) {
                if (!present.has(k, j)) continue;
                Numbers* const below = block(i, k);
                Numbers* const right = block(k, j);
                Numbers* const inner = block(i, j);
#pragma omp task default(none) firstprivate(n, below, right, inner) depend(in                \
                                                                           : *below, *right) \
    depend(inout                                                                             \
           : *inner)
                {
                    if (inner->empty()) inner->resize(n * n);
                    tiles::subtract_product(n, *below, *right, *inner);
                }
                present.add(i, j);
                ++tasks;
            }
        }
    }
};

// --- strassen

struct Temporaries {
    std::vector<Square> squares;
    explicit Temporaries(std::size_t rows) {
        squares.reserve(strassen::products);
        for (std::size_t i = 0; i < strassen::products; ++i) squares.emplace_back(rows);
    }
    strassen::Seven all() {
        strassen::Seven pointers{};
        for (std::size_t i = 0; i < strassen::products; ++i) pointers[i] = &squares[i];
        return pointers;
    }
};

/// c = a b, where the rows are more than the cutoff, and so are tasks down to `depth` levels.
void multiply(const Strassen& product, const Square* a, const Square* b, Square* c);

void divide(const Strassen& product, const Square* a, const Square* b, Square* c) {
    Temporaries left(a->rows() / 2), right(a->rows() / 2), products(a->rows() / 2);
    const strassen::Seven l = left.all(), r = right.all(), p = products.all();
    const Strassen half{product.rows / 2, product.cutoff, product.depth - 1};
#pragma omp task default(none) firstprivate(a, l) depend(in    \
                                                         : *a) \
    depend(out                                                 \
           : *l[0], *l[1], *l[2], *l[3], *l[4], *l[5], *l[6])
    strassen::left_factors(*a, l);
#pragma omp task default(none) firstprivate(b, r) depend(in    \
                                                         : *b) \
    depend(out                                                 \
           : *r[0], *r[1], *r[2], *r[3], *r[4], *r[5], *r[6])
    strassen::right_factors(*b, r);
    for (std::size_t i = 0; i < strassen::products; ++i) {
        const Square* const x = l[i];
        const Square* const y = r[i];
        Square* const z = p[i];
#pragma omp task default(none) firstprivate(half, x, y, z) depend(in : *x, *y) depend(out : *z)
        multiply(half, x, y, z);
    }
#pragma omp task default(none) firstprivate(p, c) depend(in                                                 \
                                                         : *p[0], *p[1], *p[2], *p[3], *p[4], *p[5], *p[6]) \
    depend(out                                                                                              \
           : *c)
    strassen::combine({p[0], p[1], p[2], p[3], p[4], p[5], p[6]}, *c);
#pragma omp taskwait
}

void multiply(const Strassen& product, const Square* a, const Square* b, Square* c) {
    if (product.depth > 0 && product.rows > product.cutoff) {
        divide(product, a, b, c);
    } else {
        strassen::multiply(*a, *b, *c, product.cutoff);
    }
}

std::uint64_t tasks_of(const Strassen& product) {
    if (product.depth == 0 || product.rows <= product.cutoff) return 1;
    return 4 + strassen::products * tasks_of({product.rows / 2, product.cutoff, product.depth - 1});
}

// --- jacobi

using Grid = std::vector<Numbers>;

void sweep(const Poisson& poisson, Grid& right_sides, Grid& estimates_saved, Grid& estimates) {
    const std::size_t blocks = poisson.blocks, end = blocks - 1;
    for (std::size_t at = 0; at < estimates.size(); ++at) {
        Numbers* const from = &estimates[at];
        Numbers* const to = &estimates_saved[at];
#pragma omp task default(none) firstprivate(from, to) depend(in : *from) depend(inout : *to)
        std::copy(from->begin(), from->end(), to->begin());
    }
    for (std::size_t i = 0; i < blocks; ++i)
        for (std::size_t j = 0; j < blocks; ++j) {
            const std::size_t at = i * blocks + j;
            Numbers* const f = &right_sides[at];
            Numbers* const here = &estimates_saved[at];
            Numbers* const north = &estimates_saved[i == 0 ? at : at - blocks];
            Numbers* const south = &estimates_saved[i == end ? at : at + blocks];
            Numbers* const west = &estimates_saved[j == 0 ? at : at - 1];
            Numbers* const east = &estimates_saved[j == end ? at : at + 1];
            Numbers* const next = &estimates[at];
#pragma omp task default(none) firstprivate(poisson, i, j, f, here, north, south, west, east, next) \
    depend(in                                                                                       \
           : *f, *here, *north, *south, *west, *east) depend(inout                                  \
                                                             : *next)
            poisson.estimate(i, j, f->data(), here->data(), north->data(), south->data(), west->data(),
                             east->data(), next->data());
        }
}

}  // namespace

Measured measure(const SparseLu& problem, int workers) {
    Measured measured;
    const tiles::Matrix& matrix = problem.matrix;
    for (int round = 0; round < 3; ++round) {
        Blocks blocks{matrix.tiles, matrix.tile_size, {}};
        blocks.all.resize(std::size_t{matrix.tiles} * matrix.tiles);
#pragma omp parallel num_threads(workers)
#pragma omp single
        {
            for (std::uint32_t i = 0; i < matrix.tiles; ++i)
                for (std::uint32_t j = 0; j < matrix.tiles; ++j) {
                    if (!matrix.stores(i, j)) continue;
                    Numbers* const block = &blocks.all[std::size_t{i} * matrix.tiles + j];
#pragma omp task default(none) shared(matrix) firstprivate(block, i, j) depend(out : *block)
                    {
                        block->resize(matrix.numbers_of_tile());
                        matrix.make(i, j, *block);
                    }
                }
#pragma omp taskwait
            const Clock clock(measured);
            blocks.factorize();
#pragma omp taskwait
        }
        Digest digest;
        for (const Numbers& block : blocks.all) digest.add(block);
        measured.value = digest.value();
        measured.tasks = static_cast<double>(blocks.tasks);
    }
    return measured;
}

Measured measure(const Strassen& problem, int workers) {
    Measured measured;
    Square a(problem.rows), b(problem.rows);
    strassen::fill(1, 0, a);
    strassen::fill(1, 1, b);
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(workers)
#pragma omp single
        {
            Square c(0);
            {
                const Clock clock(measured);
                c = Square(problem.rows);
                multiply(problem, &a, &b, &c);
            }
            Digest digest;
            digest.add(c.numbers());
            measured.value = digest.value();
        }
    }
    measured.tasks = static_cast<double>(tasks_of(problem));
    return measured;
}

Measured measure(const Jacobi& problem, int workers) {
    const Poisson& poisson = problem.poisson;
    const Grid empty(poisson.blocks * poisson.blocks, Numbers(poisson.rows * poisson.rows));
    Grid f = empty, saved = empty, next = empty;
    for (std::size_t at = 0; at < f.size(); ++at)
        poisson.make_right_side(at / poisson.blocks, at % poisson.blocks, f[at]);
    Measured measured;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t at = 0; at < next.size(); ++at)
            poisson.make_estimate(at / poisson.blocks, at % poisson.blocks, next[at]);
#pragma omp parallel num_threads(workers)
#pragma omp single
        {
            const Clock clock(measured);
            for (std::size_t i = 0; i < problem.sweeps; ++i) sweep(poisson, f, saved, next);
#pragma omp taskwait
        }
    }
    Digest digest;
    for (const Numbers& block : next) digest.add(block);
    measured.value = digest.value();
    measured.tasks = static_cast<double>(2 * problem.sweeps * next.size());
    return measured;
}

}  // namespace heddle::bench

int main(int count, char** words) {
    return heddle::bench::run_kastors("peer_openmp_kastors", count, words);
}
