// Finds what a workload should declare of its work: one core runs it, and the measured time is compared with
// its declaration.
#pragma once

#include <string>

#include "cli/override_options.hpp"

namespace heddle::cli {

/// Runs the experiment natively on one core, `repetitions` times, and simulates what it declares on a core of
/// its platform. Prints what the declaration is to be multiplied by. Returns the exit code. Throws Error.
int calibrate_workload(const std::string& file, const OverrideOptions& overrides, std::uint32_t repetitions);

}  // namespace heddle::cli
