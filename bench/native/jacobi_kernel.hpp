// A point of Jacobi's iteration, for Heddle and its peers. It includes nothing of Heddle.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace heddle::bench {

/// Sets a point of a grid with `n` points in a row to the average of its neighbours before.
/// Returns how much it has changed.
inline double relax(double* now, const double* before, std::size_t n, std::size_t at) {
    now[at] = (before[at - n] + before[at + n] + before[at - 1] + before[at + 1]) * 0.25;
    return std::fabs(now[at] - before[at]);
}

/// The grid at the start: sin(pi x) sin(pi y), with a border of zeros.
inline void fill_waves(double* grid, std::size_t n) {
    std::vector<double> wave(n);
    for (std::size_t i = 1; i + 1 < n; ++i)
        wave[i] = std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) grid[i * n + j] = wave[i] * wave[j];
}

}  // namespace heddle::bench
