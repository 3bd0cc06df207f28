// Tests all pairs of a group's samples as one family: the best of a group is chosen by the same runs that it
// is compared with, so each pair may turn out to be the one that is asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/statistics.hpp"

namespace heddle::results {

/// Mann and Whitney's test of each two samples. A sample without values, or of identical repeats, is not
/// tested.
class PairTests {
public:
    struct Result {
        double p = 1;      ///< adjusted for all pairs
        double least = 1;  ///< what it would be if no two tested samples overlapped
    };

    /// Up to so many samples the adjustment is Holm's. For more, the number of pairs multiplies p
    /// (Bonferroni, which is never less): to test hundreds of thousands of pairs would take too long.
    static constexpr std::size_t holm_max = 40;

    /// `samples` must live longer than this.
    PairTests(const std::vector<std::vector<double>>& samples, const std::vector<bool>& identical);

    /// Nothing for a pair that is not tested. The order of the two does not matter.
    std::optional<Result> of(std::size_t first, std::size_t second) const;

private:
    Result unadjusted(std::size_t first, std::size_t second) const;
    /// Of a pair of tested samples, by their places among those.
    static std::size_t place_of(std::size_t first, std::size_t second);

    const std::vector<std::vector<double>>& samples_;
    std::vector<std::size_t> tested_;
    std::vector<std::optional<std::size_t>> places_;  ///< of each sample among the tested ones
    std::vector<Result> adjusted_;                    ///< by place_of; empty beyond holm_max
};

/// Whether the test of each tested pair could give a p below `bound`, by the sizes of the samples.
bool all_can_be_below(double bound, const std::vector<std::vector<double>>& samples,
                      const std::vector<bool>& identical);

/// The number of pairs of so many samples.
double pairs_of(std::size_t samples);

}  // namespace heddle::results
