// Computes t-levels and b-levels of tasks (longest paths from start, to end), by which schedulers rank them.
#pragma once

#include <vector>

#include "partitioners/schedulers/problem.hpp"

namespace heddle::schedulers {

/// The longest way from the start of a task to the end of the graph, in mean times and mean delays: the
/// b-level, and the upward rank of Topcuoglu et al. 2002 (equation 3).
std::vector<double> bottom_levels(const Problem& problem);

/// The same without messages: the static level of Hwang et al. 1989 and of Sih and Lee 1993.
std::vector<double> static_levels(const Problem& problem);

/// The longest way from the start of the graph to the start of a task, in mean times and mean delays: the
/// t-level, and the downward rank (the same, equation 6).
std::vector<double> top_levels(const Problem& problem);

/// The tasks by falling priority; equal ones in the graph's topological order. The result is a topological
/// order where no task's priority exceeds that of a predecessor.
std::vector<TaskIndex> by_priority(const Problem& problem, const std::vector<double>& priority);

/// The tasks in a topological order that prefers, among those whose predecessors all stand before, the one of
/// highest priority; equal ones by their number.
std::vector<TaskIndex> ready_by_priority(const Problem& problem, const std::vector<double>& priority);

}  // namespace heddle::schedulers
