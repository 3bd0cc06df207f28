// Shared by the workloads of Jacobi iteration: the first grid, the answer that is known of it, and the
// sequential program. The grid begins with sin(pi x) sin(pi y), which each sweep multiplies by cos(pi / (n -
// 1)).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "workloads/digest.hpp"

namespace heddle::workloads::jacobi {

/// sin(pi x) at the points of a row, with zeros at both ends.
inline std::vector<double> sines(std::int64_t n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 1; i + 1 < n; ++i)
        values[static_cast<std::size_t>(i)] =
            std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1));
    return values;
}

/// What a point is multiplied by in so many sweeps.
inline double decay(std::int64_t n, double sweeps) {
    return std::pow(std::cos(std::numbers::pi / static_cast<double>(n - 1)), sweeps);
}

/// The largest change of a point in a sweep: 1, 2, ... `highest`: the largest of `sines(n)`.
inline double change_of(std::int64_t n, double highest, double sweep) {
    return highest * highest * (decay(n, sweep - 1) - decay(n, sweep));
}

/// Points times sweeps up to which the sequential program takes some seconds.
inline bool is_small(std::int64_t n, std::int64_t sweeps) {
    return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(sweeps) <= 1e9;
}

/// The sequential program: at most `most` sweeps, until no point changes by `tolerance`.
struct Sequential {
    Sequential(std::int64_t points, std::int64_t most, double tolerance) {
        const auto n = static_cast<std::size_t>(points);
        const auto wave = sines(points);
        std::vector<double> before(n * n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) before[i * n + j] = wave[i] * wave[j];
        std::vector<double> after = before;
        do {
            double change = 0;
            for (std::size_t i = 1; i + 1 < n; ++i) {
                for (std::size_t j = 1; j + 1 < n; ++j) {
                    const std::size_t at = i * n + j;
                    after[at] = (before[at - n] + before[at + n] + before[at - 1] + before[at + 1]) * 0.25;
                    change = std::max(change, std::fabs(after[at] - before[at]));
                }
            }
            std::swap(before, after);
            ++sweeps;
            largest_change = change;
        } while (sweeps != most && !(largest_change < tolerance));
        std::uint64_t all = 0;
        for (std::size_t at = 0; at < n * n; ++at) all += digest(before[at], at);
        sum = short_digest(all);
    }

    std::int64_t sweeps = 0;
    double largest_change = 0;
    double sum = 0;  ///< of the digests of all points
};

}  // namespace heddle::workloads::jacobi
