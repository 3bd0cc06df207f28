// The errors for times that do not fit into the range of Time.
#include "base/time.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace heddle {

void refuse_seconds(double seconds) {
    throw Error(fmt::format("a time of {} s", seconds), "a time is 0 to 106 days (9.2e6 s)");
}

void refuse_moment() {
    throw Error("virtual time passes 106 days (9.2e6 s)",
                "times are whole picoseconds: give the run less work, faster cores or shorter latencies");
}

}  // namespace heddle
