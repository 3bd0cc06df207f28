// How often a computation of many short steps polls where workers should (Topology::polled_in_passing): so
// often that messages do not wait for long, and no more, because looking takes time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/time.hpp"
#include "runtime/core/node.hpp"
#include "runtime/core/worker.hpp"

namespace heddle::runtime {

class PollPace {
public:
    /// The time between two polls is to be from `least` to four times that.
    PollPace(const Worker& worker, Time least)
        : least_(least), left_(worker.node().topology().polled_in_passing ? 1 : unlimited) {}

    /// Whether the worker should poll at all.
    bool polls() const { return left_ != unlimited; }

    /// So many steps from now.
    std::uint64_t left() const { return left_; }

    /// After some steps, where it polls. True: it is time.
    bool due(std::uint64_t steps) {
        left_ -= std::min(left_, steps);
        return left_ == 0;
    }

    /// After that, on the worker.
    void poll(Worker& worker) {
        const Time now = worker.backend->now(worker);
        worker.backend->poll(worker);
        const Time since_last = now - last_;
        last_ = now;
        if (since_last < least_) steps_ = std::min(2 * steps_, steps_max);
        if (since_last > 4 * least_) steps_ = std::max<std::uint64_t>(1, steps_ / 2);
        left_ = steps_;
    }

private:
    static constexpr std::uint64_t steps_max = 1U << 16;
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    Time least_;
    std::uint64_t left_;       ///< steps until it polls
    std::uint64_t steps_ = 1;  ///< between two polls
    Time last_{};
};

}  // namespace heddle::runtime
