// Finds an optimal schedule by branch and bound: for graphs of about a dozen tasks, more where bounds are
// tight.
#pragma once

#include <cstddef>
#include <functional>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

/// A schedule at least as good as `known`. Its proved bound is its own makespan where the search came to its
/// end; where it was cut off, after `nodes_max` partial schedules or because `out_of_time` said so, what was
/// known at the start.
Schedule search_exhaustively(const Problem& problem, const Schedule& known, std::size_t nodes_max,
                             const std::function<bool()>& out_of_time);

/// Bounds from the messages of forks and joins: what a task's successors take at least, on its own processor
/// one after the other or elsewhere after a message. `from_start` of a task: no schedule starts it earlier;
/// `to_end`: from its start to the end of the schedule at least that much.
struct MessageBounds {
    std::vector<double> from_start, to_end;
};
MessageBounds message_bounds(const Problem& problem);

}  // namespace heddle::schedulers
