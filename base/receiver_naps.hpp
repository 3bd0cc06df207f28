// When the receiver of a node naps, and leaves what comes to a worker that will rest soon, or will look in
// passing: it would take the core from the worker that is about to look. Both worlds keep these rules.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace heddle::receiver_naps {

struct Lengths {
    /// A worker that came back within this time, `soon_times` in a row, is expected to do so again. One that
    /// comes back late now and then still is: in an exchange of large blocks it copies some in between.
    std::chrono::microseconds soon;
    std::chrono::microseconds shortest;  ///< the first nap
};

/// Where the receiver may have a core of its own, a message need not wait long for the worker. Where each
/// core has a worker, the end of a nap takes the core from one, and so does a message that the receiver
/// reads.
inline constexpr Lengths with_core{std::chrono::microseconds(100), std::chrono::microseconds(50)},
    without_core{std::chrono::microseconds(250), std::chrono::microseconds(200)};

inline constexpr std::uint8_t soon_times = 4, soon_most = 8;

/// The next count of such returns, after one that was soon or late.
constexpr std::uint8_t counted(std::uint8_t count, bool was_soon) {
    return was_soon ? std::min<std::uint8_t>(count + 1, soon_most) : count / 2;
}

/// The longest nap that no worker ends.
inline constexpr std::chrono::microseconds short_most{200};

/// So often in so short a time a receiver takes a worker's place before it naps. A worker that waits between
/// its messages then comes to rest. Else the receiver would wake for each of them and, where it has no core
/// of its own, interrupt the worker that was about to look.
inline constexpr std::uint8_t taken_times = 16;
inline constexpr std::chrono::microseconds taken_within = taken_times * short_most;

}  // namespace heddle::receiver_naps
