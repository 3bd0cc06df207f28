// What several threads say to each other, as far as a program knows it beforehand, and the process of each
// that suits this (the pCoR paper, section 4.3: "to choose the better location for computing threads
// according to host-to-host link capabilities", which it leaves undone). Starts no thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/route_table.hpp"
#include "model/messaging/thread_id.hpp"
#include "runtime/backend.hpp"

namespace heddle::messaging {

/// Threads that are to be created together are numbered from 0: each has a place.
struct Talk {
    using Place = std::uint64_t;

    /// What two of them exchange, both directions together.
    struct Pair {
        Place a = 0;
        Place b = 0;
        double messages = 1;
        double bytes = 0;
    };

    Place places = 0;
    std::vector<Pair> pairs;  ///< in any order; a pair that occurs twice exchanges the sum

    /// Each place sends `messages` messages, of `bytes` bytes together, to each of its neighbours
    /// (Topology::Shape::neighbours).
    static Talk of(const std::vector<std::vector<Place>>& neighbours, double messages, double bytes);
    /// Place a sends bytes[a][b] bytes to place b, in messages of `message_bytes`. Throws Error unless the
    /// matrix is square.
    static Talk matrix(const std::vector<std::vector<double>>& bytes, double message_bytes = 4096);
};

/// The most messages or bytes that a program may say, so that no sum is beyond all numbers.
inline constexpr double amount_max = 1e18;
/// False for what is no number, too.
inline bool is_amount(double value) {
    return value >= 0 && value <= amount_max;
}

/// The link between two different processes.
using LinkBetween = std::function<RouteTable::Route(ProcessId a, ProcessId b)>;

/// As the topology says. If it knows several networks, they say it. If it knows the groups of nodes and not
/// their distances, the link within a group takes half of the time. A figure that is not known is 1 us or
/// 1 GB/s. The topology must outlive what is returned.
LinkBetween links_of(const runtime::Topology& topology);

/// How long a link is busy with that, in seconds.
double seconds_over(const RouteTable::Route& link, double messages, double bytes);

/// The process of each place. No process gets two places more than another one, and among such placements the
/// sum of `seconds_over` of the pairs in two processes is small: not always the least, because places are put
/// one by one where they add least, and then exchanged while that is of use. The same for the same arguments.
/// Throws Error for an amount below 0 or above 1e18, and for a pair of places that do not exist.
/// `processes`: ascending, one at least.
std::vector<ProcessId> place_together(const Talk& talk, std::span<const ProcessId> processes,
                                      const LinkBetween& link);

/// The sum that `place_together` makes small.
double seconds_between(const Talk& talk, std::span<const ProcessId> process_of, const LinkBetween& link);

}  // namespace heddle::messaging
