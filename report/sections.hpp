// Declares the sections of the report's page. A section adds nothing if the runs have nothing for it, or says
// what is missing.
#pragma once

#include <string>

#include "report/findings.hpp"
#include "report/page.hpp"

namespace heddle::report {

struct Subject {
    const Runs& runs;
    const Design& design;
    const Findings& findings;

    const Combination& combination_of(const Entry& entry) const {
        return design.combinations[entry.combination];
    }
};

/// HTML of the first sentences: the winner, its margin and the reason.
std::string summary_of(const Subject& subject);

/// What was run and what varied, versions, hosts, failures.
void add_overview(Page& page, const Subject& subject);

/// A table for each group of competitors, with letters.
void add_comparison(Page& page, const Subject& subject);

/// The median over a key that is a number, with intervals, the ideal and the bound.
void add_curves(Page& page, const Subject& subject);

/// Placement by stealing policy: the median over the best one.
void add_heat_maps(Page& page, const Subject& subject);

/// What workers did with their time, for each combination.
void add_states(Page& page, const Subject& subject);

/// Thieves by victims, distances, and where stealing never fired.
void add_steals(Page& page, const Subject& subject);

/// Efficiency by the size of tasks, and METG.
void add_granularity(Page& page, const Subject& subject);

/// Simulated and native times of the same configuration.
void add_worlds(Page& page, const Subject& subject);

/// One recorded run: times of workers, Gantt chart, critical path, causes of idle time.
void add_recorded_run(Page& page, const Subject& subject);

}  // namespace heddle::report
