// For tests: synthetic times whose true ratio is known. The noise is log-normal, with median exp(mu)
// (Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions", volume 1, 1994, chapter 14). So the
// ratio of the medians is the factor by which one sample is multiplied.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "results/equivalence.hpp"

namespace heddle::results {

/// By Box and Muller.
inline double normal(Random& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

inline std::vector<double> times(std::size_t count, double median, double sigma, Random& random) {
    std::vector<double> sample(count);
    for (double& value : sample) value = median * std::exp(sigma * normal(random));
    return sample;
}

inline double share_of_trials(int trials, std::uint64_t seed, const auto& succeeds) {
    int successes = 0;
    for (int trial = 0; trial < trials; ++trial) {
        Random random = Random(seed).split(static_cast<std::uint64_t>(trial));
        successes += succeeds(random) ? 1 : 0;
    }
    return successes / static_cast<double>(trials);
}

/// The verdict of tests with 8, 16, 32 values, until one decides. The simulation is constant where its sigma
/// is 0.
inline Equivalence tested_as_it_grows(double ratio, double simulated_sigma, double native_sigma, double bound,
                                      Random& random) {
    const Sample simulated{times(32, ratio, simulated_sigma, random), simulated_sigma == 0};
    return equivalence_at_looks(simulated, {times(32, 1, native_sigma, random)}, bound, 0.05);
}

/// How often the interval of the ratio 1.2 covers it, with so many values in each sample.
inline double ratio_coverage(int trials, std::size_t above, std::size_t below, double above_sigma,
                             double below_sigma) {
    return share_of_trials(trials, above * 100 + below, [&](Random& random) {
        const Sample simulated{times(above, 1.2, above_sigma, random), above_sigma == 0};
        const auto interval = ratio_interval(simulated, {times(below, 1, below_sigma, random)}, 0.95).value();
        return interval.low <= 1.2 && 1.2 <= interval.high;
    });
}

}  // namespace heddle::results
