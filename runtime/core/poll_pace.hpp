// How often what a worker does in many short steps polls where workers should (Topology::polled_in_passing):
// so often that messages do not wait for long, and no more, because looking takes time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "runtime/backend.hpp"

namespace heddle::runtime {

class PollPace {
public:
    /// `steps_most`: between two polls, however short they are. If they become long, it polls late once.
    PollPace(bool polls, std::uint64_t steps_most) : steps_most_(steps_most), left_(polls ? 1 : unlimited) {}

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
    void poll(Context& worker) {
        const Time now = worker.backend->now(worker);
        worker.backend->poll(worker);
        const Time since_last = now - last_;
        last_ = now;
        if (since_last < least) steps_ = std::min(2 * steps_, steps_most_);
        if (since_last > 4 * least) steps_ = std::max<std::uint64_t>(1, steps_ / 2);
        left_ = steps_;
    }

    /// What comes next may take longer.
    void begin_again() {
        steps_ = 1;
        if (polls()) left_ = 1;
    }

private:
    /// Between two polls, if the steps allow it; and at most four times that.
    static constexpr Time least = std::chrono::microseconds(3);
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t steps_most_;
    std::uint64_t left_;       ///< steps until it polls
    std::uint64_t steps_ = 1;  ///< between two polls
    Time last_{};
};

}  // namespace heddle::runtime
