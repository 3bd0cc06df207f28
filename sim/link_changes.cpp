// Computes how long a message takes on a route whose latency and bandwidth change while it is under way.
#include "sim/link_changes.hpp"

#include <algorithm>
#include <iterator>

#include "base/assert.hpp"

namespace heddle::sim {

const RouteChange& state_at(const RouteCourse& course, Time time) {
    const auto after = std::upper_bound(course.begin(), course.end(), time,
                                        [](Time t, const RouteChange& change) { return t < change.at; });
    HEDDLE_ASSERT(after != course.begin());
    return *std::prev(after);
}

Time transfer_time(const RouteCourse& course, Time begin, double bytes) {
    const RouteChange* now = &state_at(course, begin);
    const RouteChange* last = &course.back();
    Time since = begin;
    for (; now != last; ++now) {
        const double until_change = to_seconds(now[1].at - since) * now->bandwidth;
        if (bytes <= until_change) break;
        bytes -= until_change;
        since = now[1].at;
    }
    return checked_sum(since - begin, from_seconds(bytes / now->bandwidth));
}

}  // namespace heddle::sim
