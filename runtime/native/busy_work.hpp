// Work that is only declared, done as busy work: a core spends the time, and nothing comes of it.
#pragma once

#include "base/time.hpp"

namespace heddle::native {

/// Keeps the caller's core busy for as long as `duration` of undisturbed computing: a fixed number of steps,
/// so that a core which is taken away meanwhile makes it last longer, as it would real work. The first call
/// in a process measures how long a step takes, for some milliseconds.
void keep_busy(Time duration);

}  // namespace heddle::native
