// Work of a fixed amount, which takes longer while something else uses the same core.
#pragma once

#include <cstdint>

namespace heddle {

/// Issues as many instructions as a core can, about a nanosecond a step. So it notices another program on the
/// same core's second hardware thread, as most programs do. A loop that waits for each of its results would
/// not notice that.
void busy_arithmetic(std::uint32_t steps);

}  // namespace heddle
