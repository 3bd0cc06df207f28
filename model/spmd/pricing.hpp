// Predicts how long a collective call takes on a platform with a given algorithm. The prediction depends only
// on what all ranks know, so all of them choose the same algorithm. It knows neither single links nor what
// else uses the network.
#pragma once

#include <compare>

#include "model/spmd/algorithm.hpp"
#include "runtime/backend.hpp"

namespace heddle::spmd {

/// What steps cost, in seconds and bytes per second.
struct Prices {
    double latency = 20e-6;  ///< between nodes
    double bandwidth = 1e9;  ///< of a node's link, in each direction
    double hand_over = 0;    ///< a message, by the rank that sends it
    double send = 0;         ///< a message, by its node; and each byte
    double send_byte = 0;
    double receive = 0;
    double receive_byte = 0;
    std::vector<MessageBytes> message_bytes{};  ///< not empty: in place of `send_byte` and `receive_byte`
    double wake = 0;                            ///< of a rank or thread that waits for one of its node
    double wake_by_message = 0;                 ///< for one of another node
    double core_speed = 10e9;
    double memory_bandwidth = 40e9;  ///< of a node
    std::uint32_t threads = 1;       ///< that copy and combine large arrays
    RankId ranks_per_node = 1;
    bool in_place = true;  ///< CrewSettings::in_place

    double sending(double bytes) const;
    double receiving(double bytes) const;

    auto operator<=>(const Prices&) const = default;

    /// Of a world. Where it knows no latency or bandwidth the values above are taken: they must not be
    /// measured, because ranks would measure different ones. `Platform::memory_bandwidth` has its initial
    /// value.
    static Prices of(const runtime::Topology& topology, const Overheads& overheads);
};

/// Seconds until the last rank returns, if all call at one time. Messages of a rank leave in turn.
double price(const Algorithm& algorithm, const Call& call, Index element_bytes, const Prices& prices);

/// The algorithm of the operation with the lowest price; of equal ones the first of the list. `commutes`:
/// whether the call's operator does; others are left out. Remembers its answers. Any thread may call it.
const Algorithm& cheapest(Operation operation, const Call& call, Index element_bytes, bool commutes,
                          const Prices& prices);

}  // namespace heddle::spmd
