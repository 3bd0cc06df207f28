// Improves a known schedule by local search, for graphs too large for an exact search.
#pragma once

#include <cstddef>

#include "base/random.hpp"
#include "partitioners/schedulers/scheduler.hpp"

namespace heddle::schedulers {

/// A schedule at least as good as `known`: at most `tries` others are looked at, none after one as short as
/// `enough` or when `out_of_time` says so.
Schedule improve(const Problem& problem, const Schedule& known, double enough, std::size_t tries,
                 Random random, const std::function<bool()>& out_of_time);

}  // namespace heddle::schedulers
