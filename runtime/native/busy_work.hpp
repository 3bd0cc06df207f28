// Burns processor time for work that a program only declares: a core computes as long as the work would take,
// without a result.
#pragma once

#include "base/time.hpp"

namespace heddle::native {

/// Keeps the caller's core busy for as long as `duration` of undisturbed computing: a fixed number of steps,
/// so that a core which is taken away meanwhile makes it last longer, as it would real work.
void keep_busy(Time duration);

/// Measures how long a step takes, for a tenth of a millisecond, if this process has not done so. A caller
/// that does so before a run keeps this time out of the run.
void prepare_busy_work();

}  // namespace heddle::native
