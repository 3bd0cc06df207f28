// The findings of a report: groups of competing combinations, their medians, letters of significance,
// winners. Numbers only; the sections of the page put them into words and figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/design.hpp"
#include "results/comparison.hpp"

namespace heddle::report {

/// A combination within its group.
struct Entry {
    std::size_t combination = 0;  ///< index into Design::combinations
    results::Line line;
    /// Entries of a group share one if they do not differ; empty if there are too few runs to tell.
    std::string letters;
    std::string competitor;  ///< `random, half`: its values of the keys that compete
};

struct Competition {
    std::string name;  ///< `platform.nodes 4, backend sim`: what all entries have in common; may be empty
    std::vector<std::string> values;
    std::vector<Entry> entries;

    /// `random at platform.nodes 4`; empty if nothing varies.
    std::string name_of(const Entry& entry) const;
    /// The entry with the least median, if any has one.
    const Entry* winner() const;
    /// The entry with the least median among the others.
    const Entry* runner_up() const;
};

struct Findings {
    std::vector<std::size_t> common;     ///< factors that the entries of a group have in common
    std::vector<std::size_t> competing;  ///< factors whose values compete
    std::vector<Competition> groups;
};

/// Keys of the schedule, variants and directories compete; if none of them varies, the last key does. `by`
/// (dotted keys) names the common ones instead. Throws Error for a key in `by` that does not vary.
Findings find_out(const Runs& runs, const Design& design, const std::vector<std::string>& by);

/// Whether the two samples differ: by the tests of the group's pairs (results::PairTests); if
/// repeats are identical, if each run of one is longer than each of the other. The results of all pairs.
std::vector<std::vector<bool>> differences(const std::vector<std::vector<double>>& samples,
                                           const std::vector<bool>& identical);

/// Whether each pair could be found to differ: two runs each at least, and so many of those that are tested
/// that samples without overlap give a p below the level.
bool all_can_differ(const std::vector<std::vector<double>>& samples, const std::vector<bool>& identical);

/// Median of a counted value of an entry; 0 if it was not counted.
double counted(const Entry& entry, const std::string& column);

}  // namespace heddle::report
