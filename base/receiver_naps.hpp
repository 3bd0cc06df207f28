// When the receiver of a node naps, and leaves what comes to a worker that will rest soon: it would take the
// core from the worker that is about to look. Both worlds keep these rules.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace heddle::receiver_naps {

/// A worker that came back to rest within `soon`, `soon_times` in a row, is expected to do so again. One that
/// comes back late now and then still is: in an exchange of large blocks it copies some in between.
inline constexpr std::chrono::microseconds soon{100};
inline constexpr std::uint8_t soon_times = 4, soon_most = 8;

/// The next count of such returns, after one that was soon or late.
constexpr std::uint8_t counted(std::uint8_t count, bool was_soon) {
    return was_soon ? std::min<std::uint8_t>(count + 1, soon_most) : count / 2;
}

/// Of naps: the first, and the longest that no worker ends.
inline constexpr std::chrono::microseconds shortest{50}, short_most{200};

/// So often in so short a time a receiver takes a worker's place before it naps. A worker that waits between
/// its messages then comes to rest. Else the receiver would wake for each of them and, where it has no core
/// of its own, interrupt the worker that was about to look.
inline constexpr std::uint8_t taken_times = 16;
inline constexpr std::chrono::microseconds taken_within = taken_times * short_most;

}  // namespace heddle::receiver_naps
