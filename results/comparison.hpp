// Evaluates a comparison: combinations in groups, the best of each group, and which differences from the best
// are more than chance. Reads no files and runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/cells.hpp"
#include "results/statistics.hpp"

namespace heddle::results {

inline constexpr double interval_confidence = 0.95;  ///< of the intervals
inline constexpr double level = 0.05;                ///< of the tests, over one group

/// One combination with the outcomes of its runs, one for each seed.
struct Contender {
    std::vector<std::string> values;  ///< of the compared keys
    std::vector<Outcome> runs;
    /// The contender that its speedup is relative to, if the comparison has a baseline.
    std::optional<std::size_t> baseline = std::nullopt;
};

/// How a contender compares with the best of its group.
enum class Standing : std::uint8_t {
    best,
    worse,      ///< significantly, by median and by mean rank
    longer,     ///< every run took longer than every run of the best; no test, as repeats are identical
    undecided,  ///< the difference may be chance, or its mean rank is lower than that of the best
    untested,   ///< too few runs for any difference to be significant
    no_result
};

const char* name(Standing standing);

/// A ratio with its confidence interval; without one if no sample varies, or one has too few values.
struct Ratio {
    double value = 0;
    std::optional<Interval> interval{};
};

struct Line {
    std::vector<std::string> values;  ///< of the keys that compete
    std::size_t runs = 0;             ///< with a right answer
    std::size_t bad = 0;              ///< failed, or wrong
    std::size_t missing = 0;

    // Over the runs with a right answer; meaningless where there is none.
    double median_seconds = 0;
    /// All repeats of a deterministic world took the same time: the seed has no influence, so there is one
    /// value and not a sample. Such a line has neither an interval nor a p-value.
    bool identical = false;
    std::optional<Interval> interval_seconds;
    /// Of the median to the best one's; unknown if only the best one takes no time.
    std::optional<double> ratio;
    std::optional<double> lower_bound_seconds;  ///< the same for all lines with this work and machine
    std::optional<double> p_value;              ///< against the best, adjusted; only if it was tested
    Standing standing = Standing::no_result;
    std::optional<Ratio> speedup;     ///< the baseline's median over this one
    std::optional<Ratio> efficiency;  ///< speedup for each worker and each unit of work, over the baseline's
    /// Medians of what else was counted, by the names of runs.csv.
    std::vector<std::pair<std::string, double>> counted;
};

struct Group {
    std::vector<std::string> values;  ///< of the keys that all have in common
    std::vector<Line> lines;          ///< in the order of the file
};

struct Comparison {
    std::string name;
    std::vector<std::string> group_keys;
    std::vector<std::string> keys;  ///< that compete
    std::vector<Group> groups;      ///< in the order of the file
};

/// Groups the contenders by the keys in `by` and compares each group: medians with intervals; each
/// against the one with the least median by Mann and Whitney's test, with a correction over all pairs of the
/// group (PairTests).
/// `by` empty: all keys but those in `competing`; both empty: all keys but the last. Throws Error for a key
/// in `by` that is not in `keys`.
Comparison compare(const std::string& name, const std::vector<std::string>& keys,
                   const std::vector<Contender>& contenders, const std::vector<std::string>& by = {},
                   const std::vector<std::string>& competing = {});

/// The same for one line more precisely, in the words of the table, such as `too few runs to tell`.
const char* against_best(const Line& line);

/// How a line compares with the best of its group, for people: `worse (p 0.016); 1 failed`.
std::string standing_in_words(const Line& line);

/// How many runs each contender of a group needs before a difference can be significant.
std::size_t runs_needed(std::size_t contenders);

/// One row for each combination.
std::string comparison_csv(const Comparison& comparison);

/// The same as the members `keys`, `groups`, ... of a JSON object, in text; without line breaks.
std::string comparison_json(const Comparison& comparison);

}  // namespace heddle::results
