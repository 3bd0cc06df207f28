// Computes how a message fares on links whose latency and bandwidth change at times that are known from the
// start. The message has its route to itself. Plain arithmetic: knows neither SimGrid nor messages.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/time.hpp"

namespace heddle::sim {

/// From `at` on a route is like this, with the factors of the cost model.
struct RouteChange {
    Time at{};
    Time latency{};
    double bandwidth = 0;  ///< bytes per second, of the narrowest link
    bool operator<(const RouteChange& other) const {
        return std::tie(at, latency, bandwidth) < std::tie(other.at, other.latency, other.bandwidth);
    }
};

/// In the order of time; the first is at zero.
using RouteCourse = std::vector<RouteChange>;

/// From `at` on a link has this bandwidth, in bytes per second.
struct LinkChange {
    Time at{};
    std::uint32_t number = 0;
    double bandwidth = 0;
};

/// What holds at `time`.
const RouteChange& state_at(const RouteCourse& course, Time time);

/// How long `bytes` flow that begin at `begin`, at every moment with the bandwidth of that moment.
Time transfer_time(const RouteCourse& course, Time begin, double bytes);

}  // namespace heddle::sim
