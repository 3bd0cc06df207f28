// What a run costs the machine it runs on: real time and memory. Not the time of the run itself, which may be
// virtual: that is Backend::now.
#pragma once

#include <cstdint>

namespace heddle::native {

/// Seconds of the steady clock, from an arbitrary start.
double wall_seconds();

/// The most memory that this process has held at once (resident set).
std::uint64_t peak_memory_bytes();

/// The most memory that the largest of the child processes held that have ended.
std::uint64_t peak_memory_of_helpers_bytes();

}  // namespace heddle::native
