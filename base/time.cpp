#include "base/time.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace heddle {

void refuse_seconds(double seconds) {
    throw Error(fmt::format("a time of {} s", seconds), "a time is 0 to 106 days (9.2e6 s)");
}

}  // namespace heddle
