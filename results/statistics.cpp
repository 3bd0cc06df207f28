// Medians with intervals of interpolated order statistics, the Mann-Whitney test, and Holm's correction for
// several tests.
#include "results/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "base/assert.hpp"

namespace heddle::results {

namespace {

/// Of sorted values.
double middle(const std::vector<double>& sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/// The ends of an interval: from the `depth`-th least and greatest value, this part of the way to the next
/// ones inwards. A depth of 0: there is no interval.
struct Ends {
    std::size_t depth = 0;
    double inwards = 0;
};

/// The median of so many values is beyond each end with probability `tail`. It is below the d-th least value
/// if fewer than d values are below the median; each is with probability 1/2.
Ends ends_of(std::size_t values, double tail) {
    const auto n = static_cast<double>(values);
    Ends ends;
    for (double beyond = 0; ends.depth < (values + 1) / 2; ++ends.depth) {
        const auto d = static_cast<double>(ends.depth);
        const double step = std::exp(std::lgamma(n + 1) - std::lgamma(d + 1) - std::lgamma(n - d + 1) -
                                     n * std::numbers::ln2);
        if (beyond + step > tail) {
            const double part = (tail - beyond) / step;
            ends.inwards = (n - d) * part / (d + (n - 2 * d) * part);
            break;
        }
        beyond += step;
    }
    return ends;
}

/// A median with its interval.
struct Estimate {
    double value = 0;
    Interval interval;
};

std::optional<Estimate> estimate(Sample sample, double confidence) {
    std::vector<double>& values = sample.values;
    HEDDLE_ASSERT(!values.empty() && confidence >= 0.5);
    std::sort(values.begin(), values.end());
    const double value = middle(values);
    if (sample.constant) return Estimate{value, {value, value}};
    const auto [depth, inwards] = ends_of(values.size(), (1 - confidence) / 2);
    if (depth == 0) return std::nullopt;
    const std::size_t low = depth - 1, high = values.size() - depth;
    return Estimate{value,
                    {std::lerp(values[low], values[low + 1], inwards),
                     std::lerp(values[high], values[high - 1], inwards)}};
}

/// Twice the rank of each value, so that mean ranks are whole numbers; and the sum of t^3 - t over the ties.
struct Ranks {
    std::vector<std::size_t> twice;
    double ties = 0;
};

Ranks ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    Ranks ranks{std::vector<std::size_t>(values.size()), 0};
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        // Ranks begin + 1 to end: their mean is half the sum of both.
        for (std::size_t i = begin; i < end; ++i) ranks.twice[order[i]] = begin + 1 + end;
        const auto size = static_cast<double>(end - begin);
        ranks.ties += size * size * size - size;
        begin = end;
    }
    return ranks;
}

Ranks ranks_of_both(std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return ranks_of(a);
}

/// Of the doubled ranks of the first `size` values.
std::size_t first_sum(const Ranks& ranks, std::size_t size) {
    return std::accumulate(ranks.twice.begin(), ranks.twice.begin() + static_cast<std::ptrdiff_t>(size),
                           std::size_t{0});
}

/// Twice the probability that `size` of the ranks, chosen at random, have a (doubled) sum at least as far out
/// as `observed`, on its own side. Counts the choices by number and sum of what was chosen.
double exact(const std::vector<std::size_t>& twice, std::size_t size, std::size_t observed) {
    std::vector<std::size_t> greatest = twice;
    std::sort(greatest.begin(), greatest.end(), std::greater<>());
    const std::size_t most = std::accumulate(
        greatest.begin(), greatest.begin() + static_cast<std::ptrdiff_t>(size), std::size_t{0});
    std::vector<std::vector<double>> ways(size + 1, std::vector<double>(most + 1, 0));
    ways[0][0] = 1;
    for (const std::size_t rank : twice) {
        for (std::size_t chosen = size; chosen-- > 0;) {
            for (std::size_t sum = most + 1 - rank; sum-- > 0;)
                ways[chosen + 1][sum + rank] += ways[chosen][sum];
        }
    }
    double all = 0;
    double below = 0;
    double above = 0;
    for (std::size_t sum = 0; sum <= most; ++sum) {
        all += ways[size][sum];
        if (sum <= observed) below += ways[size][sum];
        if (sum >= observed) above += ways[size][sum];
    }
    return std::min(1.0, 2 * std::min(below, above) / all);
}

/// Sums of a few ranks are few and far from normal, however many the others are. The exact test takes some
/// two million steps at this bound.
bool is_exact(std::size_t a, std::size_t b) {
    return std::min(a, b) * (a + b) <= mann_whitney_exact_max * mann_whitney_exact_max / 2;
}

/// By the normal approximation, for a rank sum so far from its mean.
double approximate(std::size_t a, std::size_t b, double distance, double ties) {
    const auto m = static_cast<double>(a);
    const auto n = static_cast<double>(b);
    const double variance = m * n / 12 * (m + n + 1 - ties / ((m + n) * (m + n - 1)));
    if (variance <= 0) return 1;  // all values are equal
    const double z = std::max(0.0, distance - 0.5) / std::sqrt(variance);
    return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

double median(std::vector<double> values) {
    HEDDLE_ASSERT(!values.empty());
    std::sort(values.begin(), values.end());
    return middle(values);
}

std::optional<Interval> median_interval(const Sample& sample, double confidence) {
    const auto found = estimate(sample, confidence);
    return found ? std::optional(found->interval) : std::nullopt;
}

std::size_t interval_values(double confidence) {
    std::size_t values = 1;
    while (ends_of(values, (1 - confidence) / 2).depth == 0) ++values;
    return values;
}

std::optional<Interval> ratio_interval(const Sample& above, const Sample& below, double confidence) {
    const auto over = estimate(above, confidence), under = estimate(below, confidence);
    if (!over || !under) return std::nullopt;
    HEDDLE_ASSERT(under->interval.low > 0);
    if (over->value == 0) return Interval{0, over->interval.high / under->interval.low};
    const double ratio = over->value / under->value;
    // A low end of zero is infinitely far in logarithms, and exp gives it back.
    const auto distance = [](double a, double b) { return std::exp(std::hypot(std::log(a), std::log(b))); };
    return Interval{ratio / distance(over->value / over->interval.low, under->interval.high / under->value),
                    ratio * distance(over->interval.high / over->value, under->value / under->interval.low)};
}

double mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.empty() || b.empty()) return 1;
    if (a.size() > b.size()) return mann_whitney(b, a);  // what one sum exceeds its mean by, the other lacks
    const Ranks ranks = ranks_of_both(a, b);
    const std::size_t sum = first_sum(ranks, a.size());
    if (is_exact(a.size(), b.size())) return exact(ranks.twice, a.size(), sum);
    const auto mean = static_cast<double>(a.size() * (a.size() + b.size() + 1)) / 2;
    return approximate(a.size(), b.size(), std::abs(static_cast<double>(sum) / 2 - mean), ranks.ties);
}

bool ranks_higher(const std::vector<double>& a, const std::vector<double>& b) {
    // The mean rank of all is (m + n + 1) / 2, and the sum is twice that of the ranks.
    return first_sum(ranks_of_both(a, b), a.size()) > a.size() * (a.size() + b.size() + 1);
}

double mann_whitney_least(std::size_t a, std::size_t b) {
    // All values of one sample are below the other's: so far is their rank sum from its mean.
    if (!is_exact(a, b)) return approximate(a, b, static_cast<double>(a) * static_cast<double>(b) / 2, 0);
    double choices = 1;
    for (std::size_t i = 1; i <= a; ++i) choices *= static_cast<double>(b + i) / static_cast<double>(i);
    return std::min(1.0, 2 / choices);
}

std::vector<double> holm(const std::vector<double>& p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> adjusted(p.size());
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
        adjusted[order[i]] = least;
    }
    return adjusted;
}

}  // namespace heddle::results
