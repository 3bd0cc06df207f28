// The bandwidth of a machine's memory, by the number of cores that stream from it. A description only: the
// simulated memory bus divides it among streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace heddle {

/// Bytes per second of all cores together while 1, 2, 3, ... of them stream. Beyond the end of the list the
/// last value holds. The values may fall: on some machines four cores get less than two.
class MemoryBandwidth {
public:
    /// The same, however many cores stream. Implicit, because most machines are described by one number.
    MemoryBandwidth(double of_any) : by_streams_{of_any} {}  // NOLINT(google-explicit-constructor)

    /// At least one value.
    explicit MemoryBandwidth(std::vector<double> by_streams) : by_streams_(std::move(by_streams)) {
        HEDDLE_ASSERT(!by_streams_.empty());
    }

    /// While so many cores stream, at least one.
    double of(std::size_t streams) const { return by_streams_[std::min(streams, by_streams_.size()) - 1]; }

    const std::vector<double>& by_streams() const { return by_streams_; }

    bool operator==(const MemoryBandwidth&) const = default;

private:
    std::vector<double> by_streams_;
};

}  // namespace heddle
