// Evaluates a validation: how far simulated times are from native ones of the same configuration. It also
// tells whether both worlds agree on which of two policies is faster. Reads no files and runs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/cells.hpp"
#include "results/comparison.hpp"
#include "results/equivalence.hpp"

namespace heddle::results {

/// The bounds of the error that are tested.
inline constexpr double narrow_bound = 0.05;
inline constexpr double wide_bound = 0.15;

/// One configuration with its runs in both worlds.
struct WorldPair {
    std::vector<std::string> values;  ///< of the compared keys
    std::vector<Outcome> native;
    std::vector<Outcome> simulated;
    /// Simulated with the schedules that native runs had: each in the place of its native run.
    std::vector<Outcome> replayed = {};
    std::size_t repeated = 0;   ///< native runs that were disturbed, and were run again
    std::size_t disturbed = 0;  ///< native runs that were disturbed, and count because repeats were, too
};

/// A median of both worlds; nothing if a world has no run with a right answer.
struct WorldMedians {
    std::string what;  ///< by the name of runs.csv
    std::optional<double> native;
    std::optional<double> simulated;
};

/// Medians over the runs that have a right replay. The others are left out: what they took, such as without
/// the cost of a record, would count as an error of times. Of these, runs without a right simulation of their
/// seed are left out, unless none has one.
struct ReplayMedians {
    std::size_t runs = 0;
    double native = 0;
    double replayed = 0;
    std::optional<double> simulated;  ///< nothing if none of them was simulated

    /// Replayed over native time less 1, which the times of tasks and messages cause.
    double timing_error() const { return replayed / native - 1; }
    /// Simulated over replayed time less 1, which the schedule causes.
    std::optional<double> scheduling_error() const;
};

/// The ratio of two samples' medians with its interval, and whether it is within the bounds.
struct RatioVerdict {
    Ratio ratio;
    Equivalence within_narrow = Equivalence::undecided;
    Equivalence within_wide = Equivalence::undecided;
};

/// Times in the order of the seeds. The verdicts are the first decisions of the tests at looks
/// (equivalence.hpp), and the interval is that of all times. At least one time in each world, none zero
/// natively.
RatioVerdict ratio_verdict(const Sample& simulated, const Sample& native);

struct ValidationLine {
    std::vector<std::string> values;
    std::size_t native_runs = 0;  ///< with a right answer, as the next
    std::size_t simulated_runs = 0;
    std::size_t bad = 0;  ///< failed or wrong, in both worlds
    std::size_t repeated = 0;
    std::size_t disturbed = 0;
    std::optional<double> native_seconds;  ///< median
    std::optional<double> simulated_seconds;
    std::optional<ReplayMedians> replays;
    std::optional<Ratio> ratio;  ///< of the medians, simulated over native
    Equivalence within_narrow = Equivalence::undecided;
    Equivalence within_wide = Equivalence::undecided;
    /// Each simulated run has as many tasks as the native run of its seed. Nothing if no seed ran in both.
    std::optional<bool> same_tasks;
    std::vector<WorldMedians> counted;
    /// The parts of the error by what workers did, by the names of `base/activity.hpp`: the simulated time in
    /// a state less the native one, over the native time of all workers. They sum up to the error, as far as
    /// medians add up.
    std::vector<std::pair<std::string, double>> parts;

    /// |ratio - 1|, if there is a ratio.
    std::optional<double> error() const;
    bool passes() const { return within_wide == Equivalence::within && same_tasks != false && bad == 0; }
    /// Shown to be wrong, or not run to a right answer; neither that nor `passes` is undecided.
    bool fails() const { return within_wide == Equivalence::outside || same_tasks == false || bad > 0; }
};

/// Pairs of configurations that differ in keys that compete, and significantly so in native times: by Mann
/// and Whitney's test with Holm's correction over each group, and by the median in the same direction.
struct Ranking {
    std::size_t pairs = 0;
    std::size_t alike = 0;  ///< of these, with the same winner by simulated medians
};

struct Validation {
    std::string name;
    std::vector<std::string> keys;
    std::vector<std::string> competing;  ///< of these
    std::vector<ValidationLine> lines;   ///< in the order of the file
    std::optional<double> median_error;  ///< of the lines with a ratio, as the next
    std::optional<double> largest_error;
    Ranking ranking;

    std::size_t passed() const;
    std::size_t failed() const;
    std::size_t outside() const;  ///< of the failed ones, by their times
};

/// `by` (among `keys`): the keys that two rivals have in common. Without it keys of the schedule and variants
/// compete; if none of these is compared, the last key does. Throws Error for a key in `by` that is not in
/// `keys`.
Validation validate(const std::string& name, const std::vector<std::string>& keys,
                    const std::vector<WorldPair>& pairs, const std::vector<std::string>& by = {});

/// One line of it.
ValidationLine validate_pair(const WorldPair& pair);

/// All repeats took the same time in a world that is deterministic: more of them tell no more.
bool is_constant(const std::vector<Outcome>& runs);

/// results.csv: one row for each configuration.
std::string validation_csv(const Validation& validation);

/// A JSON object in text, without line breaks.
std::string validation_json(const Validation& validation);

}  // namespace heddle::results
