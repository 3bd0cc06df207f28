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

[[noreturn]] void refuse_seconds(double seconds);

/// The nearest whole picosecond. Throws Error where `seconds` is negative, not a number, or beyond 106 days.
inline Time from_seconds(double seconds) {
    const double picoseconds = seconds * 1e12;
    // 2^63 is the first whole number that a Time does not hold; a comparison with NaN is false.
    if (!(seconds >= 0 && picoseconds < 0x1p63)) [[unlikely]]
        refuse_seconds(seconds);
    // As std::round, which is a call where the processor is not known to do it. The difference is exact.
    const auto whole = static_cast<std::int64_t>(picoseconds);
    return Time(whole + (picoseconds - static_cast<double>(whole) >= 0.5 ? 1 : 0));
}

}  // namespace heddle
