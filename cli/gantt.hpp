// A schedule drawn in text: a line for each processor, time to the right. For small schedules and a first
// look; it loses whatever is shorter than a character.
#pragma once

#include <cstddef>
#include <string>

#include "partitioners/schedulers/schedule.hpp"

namespace heddle::cli {

/// `width` characters for the makespan. A task is its number, drawn out with `=`, or `#` where the number has
/// no room; `.` is idle. Processors without a task, and those after the 32nd line, are counted instead.
std::string gantt(const schedulers::Schedule& schedule, std::size_t width = 64);

}  // namespace heddle::cli
