// Checks that a schedule is possible, and bounds its distance from the optimum. The checker computes
// everything itself from the graph and the table of times. It shares no code with the schedulers, so that it
// finds their mistakes.
#pragma once

#include <string>
#include <vector>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

/// Every violation in words, at most the first 20: each task runs once, on a processor of the machine, from
/// time 0 on, for as long as it takes there; a processor runs one task at a time, in the schedule's order; a
/// task starts when the data of all its predecessors have arrived; the makespan is the last finish. Empty:
/// feasible. Times are compared with a relative tolerance of 1e-9 of the makespan.
std::vector<std::string> verify(const Problem& problem, const Schedule& schedule);

/// No schedule is shorter than any of these.
struct LowerBounds {
    double critical_path = 0;  ///< every task on its fastest processor, messages free
    double work = 0;           ///< all tasks at their fastest, evenly on all processors
    double intervals =
        0;  ///< Fernandez and Bussell 1973: work that must fall into an interval; 0: not computed

    double best() const;
};

/// `intervals` is computed for up to 2000 tasks, in O(tasks^2).
LowerBounds lower_bounds(const Problem& problem);

/// True where every time and every delay is a whole number: then the best makespan is one too.
bool in_whole_numbers(const Problem& problem);

}  // namespace heddle::schedulers
