// Measures what a run costs the machine it runs on: real time and memory. The run's own time may be virtual;
// Backend::now gives that.
#pragma once

#include <cstdint>

namespace heddle::host {

/// Seconds of the steady clock, from an arbitrary start.
double wall_seconds();

/// The most memory that this process has held at once (resident set).
std::uint64_t peak_memory_bytes();

/// The most memory that the largest of the child processes held that have ended.
std::uint64_t peak_memory_of_helpers_bytes();

}  // namespace heddle::host
