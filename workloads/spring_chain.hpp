// The initial state, known solution and sequential program of a chain of masses and springs between two
// walls. The chain has n masses m and n + 1 springs k. Mode j is sin(j pi i / (n + 1)) at mass i = 1, ..., n.
// At rest in this shape, the chain swings with the angular frequency 2 sqrt(k / m) sin(j pi / (2 (n + 1))).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "workloads/digest.hpp"

namespace heddle::workloads {

/// Positions are deviations from rest. Masses are counted from 0. Units: the program's own, kg, N/m and s.
struct SpringChain {
    std::int64_t masses;
    double stiffness;
    double mass;
    double step;  ///< of the leapfrog method: velocities are half a step behind positions
    std::int64_t mode;

    /// Where the mass is at the start. The walls are the masses -1 and `masses`.
    double begins_at(std::int64_t i) const { return std::sin(angle() * static_cast<double>(i + 1)); }
    /// Half a step before the start, so that one step later it is half a step after it.
    double velocity_before(std::int64_t i) const {
        const double force =
            stiffness * (begins_at(i + 1) - begins_at(i)) - stiffness * (begins_at(i) - begins_at(i - 1));
        return -0.5 * kick() * force;
    }

    double kick() const { return step / mass; }

    /// Of the mode, in radians a second.
    double frequency() const { return frequency_of(mode); }
    /// Of the mode in steps instead of time: the leapfrog method gives exactly cos(W t), with sin(W step / 2)
    /// = w step / 2 for the frequency w (Hairer, Lubich, Wanner: "Geometric Numerical Integration", I.5).
    double stepped_frequency() const { return 2 / step * std::asin(frequency() * step / 2); }
    /// What the positions at the start are multiplied by after so many steps.
    double swing(double steps) const { return std::cos(stepped_frequency() * steps * step); }

    /// What roundings may add to a position in so many steps. A step rounds a velocity by about its own size,
    /// frequency() x epsilon, and the slowest mode turns a velocity into a position of 1 / its frequency as
    /// much.
    double deviation_max(double steps) const {
        return 16 * std::numeric_limits<double>::epsilon() * (4 + steps) *
               (1 + frequency() / frequency_of(1));
    }

private:
    double angle() const {
        return std::numbers::pi * static_cast<double>(mode) / static_cast<double>(masses + 1);
    }
    double frequency_of(std::int64_t j) const {
        return 2 * std::sqrt(stiffness / mass) *
               std::sin(std::numbers::pi * static_cast<double>(j) / (2 * static_cast<double>(masses + 1)));
    }
};

/// Masses times steps up to which the sequential program takes some seconds.
inline bool is_small(const SpringChain& chain, std::int64_t steps) {
    return static_cast<double>(chain.masses) * static_cast<double>(steps) <= 5e8;
}

/// The sum of the digests of all positions and velocities after so many steps, below 2^40.
inline double digest_of(const std::vector<double>& positions, const std::vector<double>& velocities) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < positions.size(); ++i)
        sum += digest(positions[i], 2 * i) + digest(velocities[i], 2 * i + 1);
    return short_digest(sum);
}

/// The sequential program.
inline double sequential_digest(const SpringChain& chain, std::int64_t steps) {
    const auto n = static_cast<std::size_t>(chain.masses);
    std::vector<double> positions(n), velocities(n), tensions(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        positions[i] = chain.begins_at(static_cast<std::int64_t>(i));
        velocities[i] = chain.velocity_before(static_cast<std::int64_t>(i));
    }
    for (std::int64_t step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i <= n; ++i)
            tensions[i] =
                chain.stiffness * ((i == n ? 0.0 : positions[i]) - (i == 0 ? 0.0 : positions[i - 1]));
        for (std::size_t i = 0; i < n; ++i) {
            velocities[i] += chain.kick() * (tensions[i + 1] - tensions[i]);
            positions[i] += chain.step * velocities[i];
        }
    }
    return digest_of(positions, velocities);
}

}  // namespace heddle::workloads
