// Computes when a piece of work on a simulated core ends, across noise, changes of speed and stops.
#include "sim/pace.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::sim {

namespace {

// Keys of streams. The seed's own streams by node are the scheduler's.
constexpr std::uint64_t noise_stream = 0x6e6f697365;  // "noise"
constexpr std::uint64_t node_stream = 0;
constexpr std::uint64_t task_stream = 1;

}  // namespace

// A lognormal variable exp(mu + sigma z) has the mean exp(mu + sigma^2 / 2) and the relative variance
// exp(sigma^2) - 1 (Johnson, Kotz, Balakrishnan: "Continuous univariate distributions", chapter 14).
Pace::Factors::Factors(double deviation)
    : mu_(-std::log1p(deviation * deviation) / 2), sigma_(std::sqrt(std::log1p(deviation * deviation))) {}

// The normal variable is Box's and Muller's ("A note on the generation of random normal deviates", 1958).
double Pace::Factors::draw(Random& random) const {
    const double radius = std::sqrt(-2 * std::log1p(-random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    return std::exp(mu_ + sigma_ * radius * std::cos(angle));
}

Pace::Pace(const Platform& platform, NodeId node, double core_speed, std::uint64_t seed)
    : core_speed_(core_speed),
      core_factors_(platform.core_speeds),
      random_(Random(seed).split(noise_stream).split(node).split(task_stream)) {
    if (!platform.node_speeds.empty())
        core_speed_ *= platform.node_speeds[node % platform.node_speeds.size()];
    stated_speed_ = core_speed_;
    if (platform.noise.node > 0) {
        Random random = Random(seed).split(noise_stream).split(node).split(node_stream);
        core_speed_ /= Factors(platform.noise.node).draw(random);
    }
    if (platform.noise.task > 0) task_noise_.emplace(platform.noise.task);
    for (const NodeEvent& event : platform.events) {
        if (event.member || event.node / platform.processes != node / platform.processes) continue;
        if (event.speed) {
            if (event.node != node) continue;
            changes_.push_back({running(event.at), *event.speed});
        } else if (*event.stop) {
            stops_.push_back({event.at, never});
        } else {
            stops_.back().end = event.at;
        }
    }
    steady_ = core_factors_.empty() && !task_noise_ && stops_.empty() && changes_.empty();
}

Time Pace::running_between_stops(Time time) const {
    Time stopped{};
    for (const Stop& stop : stops_) {
        if (stop.begin >= time) break;
        stopped += std::min(time, stop.end) - stop.begin;
    }
    return time - stopped;
}

Time Pace::at_between_stops(Time running) const {
    for (const Stop& stop : stops_) {
        if (running < stop.begin) break;
        if (stop.end == never) return never;
        running = checked_sum(running, stop.end - stop.begin);
    }
    return running;
}

/// The node's own time when work is done that takes `seconds` without changes.
Time Pace::running_when_computed(Time begin, double seconds) const {
    Time now = running(begin);
    double speed = 1;
    for (const Change& change : changes_) {
        if (change.running > now) {
            const double until = to_seconds(change.running - now) * speed;
            if (seconds <= until) break;
            seconds -= until;
            now = change.running;
        }
        speed = change.speed;
    }
    return checked_sum(now, from_seconds(seconds / speed));
}

}  // namespace heddle::sim
