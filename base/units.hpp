// Quantities as people write them: `1us`, `10Gf`, `4KiB`, `100Gbps` (bits), `12.5GBps` (bytes), with SI and
// binary prefixes. What is printed reads back as exactly the same value. Does no arithmetic with units.
#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"

namespace heddle {

/// A time: `1us`, `2.5ms`, `0`. Rounded to the nearest picosecond. This and the others throw Error for a text
/// without a unit (except zero), with an unknown one, negative, not finite, or too large.
Time parse_time(std::string_view text);

/// Floating-point operations, or their number per second: `20f`, `10Gf`.
double parse_flops(std::string_view text);

/// Bytes: `4096`, `4096B`, `4KiB`, `64MB`.
double parse_bytes(std::string_view text);

/// Bytes per second: `12.5GBps`; in bits, eight to a byte: `100Gbps`.
double parse_bandwidth(std::string_view text);

/// The shortest text that reads back as the same value. The value must not be negative.
std::string print_time(Time time);
std::string print_flops(double flops);
std::string print_bytes(double bytes);
std::string print_bandwidth(double bytes_per_second);

/// For people, not for reading back: three digits and the unit that suits, such as `12.3 ms`.
std::string show_seconds(double seconds);
std::string show_bytes(double bytes);

}  // namespace heddle
