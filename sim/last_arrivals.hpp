// Keeps messages of one pair of nodes in order, where their times follow from their own sizes alone. It
// remembers a pair only while its last message is on its way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/time.hpp"

namespace heddle::sim {

class LastArrivals {
public:
    /// When the next message of `pair` arrives that would do so at `arrival`: not before the one before it.
    Time in_order(std::uint64_t pair, Time arrival) {
        Time& last = last_[pair];
        return last = std::max(last, arrival);
    }

    /// No message departs before `now` from here on, so none would overtake what has arrived by then.
    void forget(Time now) {
        if (last_.size() < full_) return;
        std::erase_if(last_, [now](const auto& pair) { return pair.second <= now; });
        full_ = std::max(full_least, 2 * last_.size());
    }

private:
    static constexpr std::size_t full_least = 1024;

    std::unordered_map<std::uint64_t, Time> last_;  // no result depends on its order
    std::size_t full_ = full_least;                 ///< so many pairs are worth a look at all of them
};

}  // namespace heddle::sim
