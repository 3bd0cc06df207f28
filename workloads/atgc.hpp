// The settings of ATGC ("Another Tool for Genome Comparison", Tremblay et al., section 5): the sequences to
// align and the scores. Runs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "workloads/alignment/scoring.hpp"

namespace heddle::workloads {

struct AtgcProblem {
    alignment::Scoring scoring;
    std::vector<alignment::Letters> a;  ///< one, or all whose pairs are compared
    alignment::Letters b;               ///< empty where the pairs of `a` are compared
    std::uint32_t rows = 0;             ///< of a block, at most
    std::uint32_t columns = 0;
    double cell_cost = 0;  ///< flops

    /// Throws Error if the best possible score of two sequences does not fit a score.
    void expect_score_fits(const Settings& settings) const;

    bool pairs() const { return b.empty(); }

    /// Throws Error: files that cannot be read or do not fit the alphabet, a scoring that makes no sense.
    static AtgcProblem read(const Settings& settings);
    static std::vector<Setting> settings();
};

}  // namespace heddle::workloads
