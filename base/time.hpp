// Time in a run, virtual or real: whole picoseconds, so that sums are exact whatever their order.
// Reads no clock: that is the backend's work.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

namespace heddle {

/// A duration, or the time since the start of the run. Reaches to 106 days.
using Time = std::chrono::duration<std::int64_t, std::pico>;

/// Later than everything.
inline constexpr Time never = Time::max();

/// Seconds as a floating-point number, for formulas and output.
constexpr double to_seconds(Time time) {
    return static_cast<double>(time.count()) * 1e-12;
}

/// The nearest whole picosecond. Throws Error where `seconds` is negative, not a number, or beyond 106 days.
Time from_seconds(double seconds);

}  // namespace heddle
