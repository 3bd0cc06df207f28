// The speed of one node's cores over time: factors of speed, noise, stops. All changes are known from the
// start, so the end of a piece of work is computed when it begins. Events and workers are not handled
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/platform.hpp"
#include "base/random.hpp"
#include "runtime/backend.hpp"

namespace heddle::sim {

class Pace {
public:
    /// From `begin` on nothing goes on until `end`, which may be `never`. All nodes of a machine stop
    /// together.
    struct Stop {
        Time begin{};
        Time end = never;
    };

    /// `platform` is complete. `core_speed`: flops per second of this node's cores before all factors.
    Pace(const Platform& platform, NodeId node, double core_speed, std::uint64_t seed);

    /// In the order of time.
    const std::vector<Stop>& stops() const { return stops_; }

    /// All sums of times throw Error where virtual time ends.

    /// When `duration` of the node's own time is over. The node's own time does not pass while the node has
    /// stopped. Never within a stop: what would end there is seen afterwards.
    Time after(Time begin, Time duration) const {
        return steady_ || stops_.empty() ? checked_sum(begin, duration)
                                         : at(checked_sum(running(begin), duration));
    }

    /// The node's own time: how long it has not been stopped, up to `time`.
    Time running(Time time) const { return steady_ || stops_.empty() ? time : running_between_stops(time); }

    /// The time at which the node's own time is `running`; after the stop where there is one.
    Time at(Time running) const { return steady_ || stops_.empty() ? running : at_between_stops(running); }

    /// So many times as large as declared the noise makes a piece of work. `latest`: that of the worker's
    /// latest piece, which this one may go on with.
    double drawn(bool goes_on, double& latest) {
        if (steady_ || !task_noise_) return 1;
        if (!goes_on) latest = task_noise_->draw(random_);
        return latest;
    }

    /// Of a core, flops per second, before noise and events.
    double stated_speed(CoreId core) const {
        return core_factors_.empty() ? stated_speed_
                                     : stated_speed_ * core_factors_[core % core_factors_.size()];
    }

    /// When a core that begins at `begin` has computed `flops`.
    Time computed(CoreId core, Time begin, double flops) const {
        const double seconds = flops / speed(core);
        if (steady_ || (changes_.empty() && stops_.empty())) return checked_sum(begin, from_seconds(seconds));
        return at(running_when_computed(begin, seconds));
    }

    /// How long that takes of the node's own time.
    Time computing(CoreId core, Time begin, double flops) const {
        return running_when_computed(begin, flops / speed(core)) - running(begin);
    }

private:
    /// Draws factors of mean 1: lognormal, so that none is negative.
    class Factors {
    public:
        explicit Factors(double deviation);
        double draw(Random& random) const;

    private:
        double mu_, sigma_;
    };
    /// From this moment of the node's own time on, `speed` times as fast as at first.
    struct Change {
        Time running{};
        double speed = 1;
    };

    double speed(CoreId core) const {
        return steady_ || core_factors_.empty() ? core_speed_
                                                : core_speed_ * core_factors_[core % core_factors_.size()];
    }
    Time running_between_stops(Time time) const;
    Time at_between_stops(Time running) const;
    Time running_when_computed(Time begin, double seconds) const;

    double core_speed_;
    bool steady_ = false;  ///< none of what follows is there; asked first, as it lies beside the speed
    std::vector<double> core_factors_;
    Random random_;
    std::optional<Factors> task_noise_;
    std::vector<Stop> stops_;
    std::vector<Change> changes_;
    double stated_speed_ = 0;  ///< of a core of factor 1, without noise
};

}  // namespace heddle::sim
