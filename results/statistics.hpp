// The statistics of a comparison: few runs of each configuration, from unknown distributions. Works on plain
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace heddle::results {

/// The middle value; of an even number, the mean of the middle two. At least one value.
double median(std::vector<double> values);

struct Interval {
    double low = 0;
    double high = 0;
};

/// A confidence interval of the median by the percentile bootstrap (Efron and Tibshirani, "An Introduction to
/// the Bootstrap", 1993, chapter 13): the medians of `resamples` samples drawn with replacement, from their
/// (1 - confidence) / 2 quantile to the opposite one. At least one value. Depends on the order of nothing but
/// `random`: equal values give equal intervals.
Interval bootstrap_median(std::vector<double> values, double confidence, std::uint32_t resamples,
                          Random random);

/// A confidence interval of the median of `above` over the median of `below`, by the percentile bootstrap of
/// the two samples, each drawn from itself (the same book, chapters 8 and 13). At least one value each, and
/// none of `below` may be zero. Two constant samples give the ratio itself, twice.
Interval bootstrap_ratio_of_medians(std::vector<double> above, std::vector<double> below, double confidence,
                                    std::uint32_t resamples, Random random);

/// The two-sided p-value of Mann and Whitney's rank sum test ("On a test of whether one of two random
/// variables is stochastically larger than the other", 1947): twice the probability of a rank sum at
/// least as far out, on its side, if both samples come from one distribution. Equal values get their mean
/// rank. Exact, over all divisions of the values into two samples, for up to mann_whitney_exact_max values;
/// beyond that by the normal approximation, corrected for ties and continuity. 1 where a sample is empty.
double mann_whitney(const std::vector<double>& a, const std::vector<double>& b);

inline constexpr std::size_t mann_whitney_exact_max = 50;

/// Whether `a` has the greater mean rank among the values of both: the direction of what mann_whitney finds.
/// The medians may point the other way.
bool ranks_higher(const std::vector<double>& a, const std::vector<double>& b);

/// The least p-value that samples of these sizes can have: 2 / (a + b choose a).
double mann_whitney_least(std::size_t a, std::size_t b);

/// The p-values adjusted so that the probability of one or more false claims among them stays below the level
/// (Holm, "A simple sequentially rejective multiple test procedure", 1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace heddle::results
