// What a receiver tells a sender of its window. A message takes room there until it is received: when a
// receive that waits gets it, or when one that was begun is ended. The sender is told of several together.
//
// Receives that were begun may be ended in any order. So the sender is told of their messages early if these
// take most of the window, because one that the program ends before may still have no message. Their memory
// is bounded by the program, which has begun them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/comm/endpoint.hpp"

namespace heddle::runtime {

/// What a message takes of the window.
inline std::uint32_t cost_of(std::uint64_t bytes) {
    constexpr std::uint32_t header = 64;
    return static_cast<std::uint32_t>(std::min(bytes, Endpoint::eager_max)) + header;
}

/// Of one sender. Each call returns what the sender is to be told now, which is mostly 0.
class Credit {
public:
    /// A message is received.
    std::uint64_t receive(std::int64_t cost) {
        received_ += cost;
        return received_ < window / 4 ? early() : tell(received_);
    }
    /// A receive that was begun gets its message.
    std::uint64_t hold(std::int64_t cost) {
        held_ += cost;
        return early();
    }
    /// It is ended.
    std::uint64_t end_held(std::int64_t cost) {
        held_ -= cost;
        return receive(cost);
    }
    /// It is given up, of which the sender is told at once, unless it was told early.
    std::uint64_t give_up_held(std::int64_t cost) {
        held_ -= cost;
        received_ += cost;
        return tell(std::clamp<std::int64_t>(received_, 0, cost));
    }

private:
    static constexpr std::int64_t window = Endpoint::window;

    /// Invariant: after each call the sender has room for a message of any size, or other messages are under
    /// way that will be received or held.
    std::uint64_t early() { return received_ + held_ < window / 4 * 3 ? 0 : tell(received_ + held_); }
    std::uint64_t tell(std::int64_t cost) {
        received_ -= cost;
        return static_cast<std::uint64_t>(cost);
    }

    std::int64_t received_ = 0;  ///< since the sender was told; below 0: it was told early of so much
    std::int64_t held_ = 0;      ///< by messages of receives that were begun and have not ended
};

}  // namespace heddle::runtime
