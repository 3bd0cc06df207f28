// Adjusts the p-values of all pairs of samples together.
#include "results/pair_tests.hpp"

#include <algorithm>
#include <utility>

namespace heddle::results {

namespace {

std::vector<std::size_t> tested_of(const std::vector<std::vector<double>>& samples,
                                   const std::vector<bool>& identical) {
    std::vector<std::size_t> tested;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (!samples[i].empty() && !identical[i]) tested.push_back(i);
    return tested;
}

/// Calls `each` with two places in `tested`, in the order of PairTests::place_of.
template <class Each>
void for_each_pair(const std::vector<std::size_t>& tested, const Each& each) {
    for (std::size_t j = 1; j < tested.size(); ++j)
        for (std::size_t i = 0; i < j; ++i) each(tested[i], tested[j]);
}

}  // namespace

PairTests::PairTests(const std::vector<std::vector<double>>& samples, const std::vector<bool>& identical)
    : samples_(samples), tested_(tested_of(samples, identical)), places_(samples.size()) {
    for (std::size_t k = 0; k < tested_.size(); ++k) places_[tested_[k]] = k;
    if (tested_.size() > holm_max) return;
    std::vector<double> p, least;
    for_each_pair(tested_, [&](std::size_t i, std::size_t j) {
        const Result raw = unadjusted(i, j);
        p.push_back(raw.p);
        least.push_back(raw.least);
    });
    p = holm(p);
    least = holm(least);
    for (std::size_t k = 0; k < p.size(); ++k) adjusted_.push_back({p[k], least[k]});
}

std::optional<PairTests::Result> PairTests::of(std::size_t first, std::size_t second) const {
    const auto one = places_[first], other = places_[second];
    if (!one || !other || first == second) return std::nullopt;
    if (tested_.size() <= holm_max) return adjusted_[place_of(*one, *other)];
    const Result raw = unadjusted(first, second);
    const double pairs = pairs_of(tested_.size());
    return Result{std::min(1.0, pairs * raw.p), std::min(1.0, pairs * raw.least)};
}

PairTests::Result PairTests::unadjusted(std::size_t first, std::size_t second) const {
    const std::vector<double>& a = samples_[first];
    const std::vector<double>& b = samples_[second];
    return {mann_whitney(a, b), mann_whitney_least(a.size(), b.size())};
}

std::size_t PairTests::place_of(std::size_t first, std::size_t second) {
    const auto [low, high] = std::minmax(first, second);
    return high * (high - 1) / 2 + low;
}

bool all_can_be_below(double bound, const std::vector<std::vector<double>>& samples,
                      const std::vector<bool>& identical) {
    const std::vector<std::size_t> tested = tested_of(samples, identical);
    std::vector<double> least;
    for_each_pair(tested, [&](std::size_t i, std::size_t j) {
        least.push_back(mann_whitney_least(samples[i].size(), samples[j].size()));
    });
    const bool by_holm = tested.size() <= PairTests::holm_max;
    if (by_holm) least = holm(least);
    const double factor = by_holm ? 1 : pairs_of(tested.size());
    return std::ranges::all_of(least, [&](double p) { return factor * p < bound; });
}

double pairs_of(std::size_t samples) {
    const auto count = static_cast<double>(samples);
    return count * (count - 1) / 2;
}

}  // namespace heddle::results
