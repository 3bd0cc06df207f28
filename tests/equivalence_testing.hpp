// For tests: synthetic times whose true ratio is known. The noise is log-normal, with median exp(mu)
// (Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions", volume 1, 1994, chapter 14). So the
// ratio of the medians is the factor by which one sample is multiplied.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "results/equivalence.hpp"

namespace heddle::results {

inline constexpr std::uint32_t resamples = 1000;

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

/// The verdict of tests with 8, 16, 32 values, until one decides.
inline Equivalence tested_as_it_grows(double ratio, double sigma, double bound, Random& random) {
    std::vector<double> simulated, native;
    for (std::size_t look = first_look; look <= 32; look = next_look(look)) {
        const auto more = look - native.size();
        for (const double time : times(more, ratio, sigma, random)) simulated.push_back(time);
        for (const double time : times(more, 1, sigma, random)) native.push_back(time);
        const Equivalence verdict =
            equivalence(simulated, native, bound, level_of_look(look, 0.05), resamples, random.split(look));
        if (verdict != Equivalence::undecided) return verdict;
    }
    return Equivalence::undecided;
}

}  // namespace heddle::results
