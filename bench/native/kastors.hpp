// The problems of KASTORS (Virouleau et al., "Evaluation of OpenMP Dependent Tasks with the KASTORS Benchmark
// Suite", IWOMP 2014) as Heddle and its peer run them: sizes, numbers, kernels and the value that both must
// print. The tasks are in each program. It includes nothing of Heddle's scheduler.
#pragma once

#include <malloc.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "bench/native/outcome.hpp"
#include "workloads/digest.hpp"
#include "workloads/strassen.hpp"
#include "workloads/tile_matrix.hpp"

namespace heddle::bench {

namespace tiles = workloads::tiles;
namespace strassen = workloads::strassen;
using strassen::Square;
using Numbers = std::vector<double>;

/// Of numbers that both programs have computed in the same order.
class Digest {
public:
    void add(std::span<const double> numbers) {
        for (const double number : numbers) sum_ += workloads::digest(number, place_++);
    }
    double value() const { return static_cast<double>(sum_ % (std::uint64_t{1} << 40)); }

private:
    std::uint64_t sum_ = 0;
    std::uint64_t place_ = 0;
};

/// What a program measures: the last of its rounds, so that memory and threads are there.
struct Measured {
    double seconds = 0;
    double cpu = 0;
    double value = 0;
    double tasks = 0;
};

// --- jacobi: the Poisson equation on the unit square, in blocks

/// `blocks` x `blocks` blocks of `rows` x `rows` points each. The solution is sin(pi x y).
struct Poisson {
    std::size_t blocks;
    std::size_t rows;

    std::size_t points() const { return blocks * rows; }
    double spacing() const { return 1.0 / static_cast<double>(points() - 1); }
    bool border(std::size_t i) const { return i == 0 || i + 1 == points(); }

    /// The right side in a block, and where the grid ends, the solution.
    void make_right_side(std::size_t row, std::size_t column, Numbers& block) const {
        constexpr double pi = std::numbers::pi;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < rows; ++j) {
                const std::size_t down = row * rows + i, right = column * rows + j;
                const double x = static_cast<double>(down) * spacing(),
                             y = static_cast<double>(right) * spacing();
                const double solution = std::sin(pi * x * y);
                block[i * rows + j] =
                    border(down) || border(right) ? solution : pi * pi * (x * x + y * y) * solution;
            }
    }
    /// The estimate that the iteration begins with.
    void make_estimate(std::size_t row, std::size_t column, Numbers& block) const {
        make_right_side(row, column, block);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < rows; ++j)
                if (!border(row * rows + i) && !border(column * rows + j)) block[i * rows + j] = 0;
    }

    /// The next estimate in a block. Where the grid ends, a neighbour is not read.
    void estimate(std::size_t row, std::size_t column, const double* f, const double* here,
                  const double* north, const double* south, const double* west, const double* east,
                  double* next) const {
        const double area = spacing() * spacing();
        const std::size_t last = rows - 1;
        for (std::size_t i = 0; i < rows; ++i) {
            const double* const right = f + i * rows;
            double* __restrict const out = next + i * rows;
            if (border(row * rows + i)) {
                for (std::size_t j = 0; j < rows; ++j) out[j] = right[j];
                continue;
            }
            const double* const above = i == 0 ? north + last * rows : here + (i - 1) * rows;
            const double* const below = i == last ? south : here + (i + 1) * rows;
            const double* const at = here + i * rows;
            const auto point = [&](std::size_t j, double before, double after) {
                out[j] = 0.25 * (above[j] + after + before + below[j] + right[j] * area);
            };
            if (border(column * rows)) {
                out[0] = right[0];
            } else {
                point(0, west[i * rows + last], at[1]);
            }
            for (std::size_t j = 1; j < last; ++j) point(j, at[j - 1], at[j + 1]);
            if (border(column * rows + last)) {
                out[last] = right[last];
            } else {
                point(last, at[last - 1], east[i * rows]);
            }
        }
    }
};

// --- what a program does

struct SparseLu {
    tiles::Matrix matrix;
};
struct Strassen {
    std::uint32_t rows;
    std::uint32_t cutoff;
    std::uint32_t depth;
};
struct Jacobi {
    Poisson poisson;
    std::size_t sweeps;
};

/// Runs a problem on so many workers.
Measured measure(const SparseLu& problem, int workers);
Measured measure(const Strassen& problem, int workers);
Measured measure(const Jacobi& problem, int workers);

/// Memory that was given back stays with the process, and all threads have the same: otherwise the times are
/// those of the system's pages, which glibc gives back for other threads than the first.
inline void keep_memory() {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc permits
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

inline int run_kastors(const char* name, int count, char** words) {
    try {
        const std::string what = count > 1 ? words[1] : "";
        std::vector<std::uint32_t> numbers;
        for (int i = 2; i < count; ++i) numbers.push_back(static_cast<std::uint32_t>(std::stoul(words[i])));
        const int workers = numbers.empty() ? 1 : static_cast<int>(numbers.back());
        tiles::use_callers_thread_only();
        keep_memory();
        Measured measured;
        if (what == "sparse_lu" && numbers.size() == 3) {
            measured = measure(SparseLu{{numbers[0], numbers[1], 1, false, true}}, workers);
        } else if (what == "strassen" && numbers.size() == 4) {
            measured = measure(Strassen{numbers[0], numbers[1], numbers[2]}, workers);
        } else if (what == "jacobi" && numbers.size() == 4 && numbers[1] > 1) {
            measured = measure(Jacobi{{numbers[0] / numbers[1], numbers[1]}, numbers[2]}, workers);
        } else {
            throw std::invalid_argument(what);
        }
        Outcome()
            .add("seconds", measured.seconds)
            .add("cpu_seconds", measured.cpu)
            .add("tasks", measured.tasks)
            .add("value", measured.value)
            .add("peak_mb", peak_mb())
            .print();
        return 0;
    } catch (const std::logic_error&) {
        std::fprintf(stderr,
                     "usage: %s sparse_lu TILES TILE_SIZE WORKERS | strassen ROWS CUTOFF DEPTH WORKERS | "
                     "jacobi POINTS BLOCK SWEEPS WORKERS\n",
                     name);
        return 2;
    }
}

}  // namespace heddle::bench
