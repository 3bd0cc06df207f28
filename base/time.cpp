#include "base/time.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace heddle {

Time from_seconds(double seconds) {
    const double picoseconds = seconds * 1e12;
    // 2^63 is the first whole number that a Time does not hold; a comparison with NaN is false.
    if (!(seconds >= 0 && picoseconds < 0x1p63)) {
        throw Error(fmt::format("a time of {} s", seconds), "a time is 0 to 106 days (9.2e6 s)");
    }
    // As std::round, which is a call where the processor is not known to do it. The difference is exact.
    const auto whole = static_cast<std::int64_t>(picoseconds);
    return Time(whole + (picoseconds - static_cast<double>(whole) >= 0.5 ? 1 : 0));
}

}  // namespace heddle
