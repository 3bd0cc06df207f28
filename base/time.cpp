#include "base/time.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"

namespace heddle {

Time from_seconds(double seconds) {
    const double picoseconds = std::round(seconds * 1e12);
    // 2^63 is the first whole number that a Time does not hold; a comparison with NaN is false.
    if (!(seconds >= 0 && picoseconds < 0x1p63)) {
        throw Error(fmt::format("a time of {} s", seconds), "a time is 0 to 106 days (9.2e6 s)");
    }
    return Time(static_cast<std::int64_t>(picoseconds));
}

}  // namespace heddle
