// Picks the earliest pair of a ready task and a processor, for ETF and FLB on unequal processors.
#pragma once

#include <vector>

#include "partitioners/schedulers/problem.hpp"
#include "partitioners/schedulers/schedule.hpp"

namespace heddle::schedulers {

/// Places, again and again, the ready task and processor that end first, or start first if all processors
/// are equally fast; of equal pairs the task of highest `level`. Up to O(v w p) for w ready tasks.
Schedule earliest_pairs(const Problem& problem, const std::vector<double>& level);

}  // namespace heddle::schedulers
