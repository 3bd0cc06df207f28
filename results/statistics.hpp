// The statistics of a comparison: few runs of each configuration, from unknown distributions. Works on plain
// numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle::results {

/// The middle value; of an even number, the mean of the middle two. At least one value.
double median(std::vector<double> values);

struct Interval {
    double low = 0;
    double high = 0;
};

/// Values of one distribution.
struct Sample {
    std::vector<double> values;
    bool constant = false;  ///< it cannot take another value than the first
};

/// A confidence interval of the median by interpolated order statistics (Hettmansperger and Sheather,
/// "Confidence intervals based on interpolated order statistics", 1986). Intervals from the d-th least to the
/// d-th greatest value have confidences by the binomial distribution, in steps. The ends are interpolated
/// between the two intervals with the confidences next to `confidence`; how far depends little on the
/// distribution. Nothing if the least and the greatest value have less confidence: at 95%, with fewer than
/// six values. A constant sample has its value, twice. At least one value; `confidence` at least 0.5.
std::optional<Interval> median_interval(const Sample& sample, double confidence);

/// How many values a sample that varies needs for an interval.
std::size_t interval_values(double confidence);

/// A confidence interval of the median of `above` over the median of `below`. In logarithms, the distance
/// from the ratio to an end is the root of the sum of the squares of the two medians' own distances
/// (Newcombe, "Interval estimation for the difference between independent proportions", 1998; Zou and Donner,
/// "Construction of confidence limits about effect measures: a general approach", 2008). So if one sample is
/// constant, it is the interval of the other's median. If both vary alike, it covers the ratio a little
/// more often with few values: at 95%, in 98% with 6 and in 97% with 20 (docs/verbs/validate.md). Nothing if
/// one of them has none. At least one value each, and none of `below` may be zero.
std::optional<Interval> ratio_interval(const Sample& above, const Sample& below, double confidence);

/// The two-sided p-value of Mann and Whitney's rank sum test ("On a test of whether one of two random
/// variables is stochastically larger than the other", 1947): twice the probability of a rank sum at
/// least as far out, on its side, if both samples come from one distribution. Equal values get their mean
/// rank. Exact, over all divisions of the values into two samples, for up to mann_whitney_exact_max values,
/// and for more of them if one sample is small: up to half that number squared for the smaller size times the
/// number of all values. Beyond that by the normal approximation, corrected for ties and continuity. 1 where
/// a sample is empty.
double mann_whitney(const std::vector<double>& a, const std::vector<double>& b);

inline constexpr std::size_t mann_whitney_exact_max = 50;

/// Whether `a` has the greater mean rank among the values of both: the direction of what mann_whitney finds.
/// The medians may point the other way.
bool ranks_higher(const std::vector<double>& a, const std::vector<double>& b);

/// The least p-value that samples of these sizes can have if no values are equal: 2 / (a + b choose a) where
/// the test is exact.
double mann_whitney_least(std::size_t a, std::size_t b);

/// The p-values adjusted so that the probability of one or more false claims among them stays below the level
/// (Holm, "A simple sequentially rejective multiple test procedure", 1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace heddle::results
