// Messages between nodes: when each arrives. Small ones are calculated from their route; large ones share
// bandwidth in SimGrid. Knows nothing of workers and handlers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sim/link_load.hpp"
#include "sim/simgrid_process.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// A message that has been given its time of arrival.
struct Arrival {
    Time time{};
    Message* message = nullptr;
};

class Network {
public:
    Network(SimgridProcess& simgrid, const heddle::Network& settings);

    /// A message leaves its node. The departures of one node come in the order of time.
    void send(Time departure, Message& message);

    /// The arrivals that have become known since the last call. None lies less than a lookahead after the
    /// departure of its message, or after the time up to which the large messages had been advanced.
    void take(std::vector<Arrival>& arrivals);

    /// No large message leaves SimGrid before this. `never` where there is none.
    Time quiet_until();

    /// A window begins at `now`: until the next one, small messages find links as loaded as they are now.
    void begin_window(Time now);

    /// Goes on with the large messages, to `until` or to the first moment at which some leave SimGrid.
    void advance(Time until);

    Time lookahead() const { return lookahead_; }

private:
    struct Route {
        Time latency{};
        double bandwidth = 0;
    };
    static constexpr NodeId block_nodes = 256;
    /// Kinds of routes (1 and up; 0: not asked for yet) to neighbouring destinations.
    using Block = std::array<std::uint32_t, block_nodes>;

    struct Flow {
        Message* message = nullptr;
        std::size_t handle = 0;  ///< in `load_`
        bool loads = false;
    };

    const Route& route(NodeId from, NodeId to);
    Path& path(NodeId from, NodeId to);
    void fetch(NodeId from, NodeId first, Block& block);

    SimgridProcess& simgrid_;
    NodeId nodes_;
    Time lookahead_;
    bool contention_;
    Time gap_;
    std::uint64_t small_bytes_;

    std::vector<std::vector<std::unique_ptr<Block>>> blocks_;
    std::vector<Route> kinds_;
    std::map<std::pair<Time, double>, std::uint32_t> kind_of_;

    std::unordered_map<std::uint64_t, Path> paths_;  // never iterated over
    LinkLoad load_;
    std::vector<Time> late_until_;  ///< the latest arrival of a small message of a node that was slowed down

    std::vector<Time> card_free_;  ///< when a node's network card can begin the next message
    std::vector<Arrival> known_;

    // Large messages. The time at which one starts in SimGrid is its departure and its latency less a
    // lookahead; the lookahead is added when it ends (docs/simulator.md).
    std::vector<FlowStart> unsent_;
    std::unordered_map<std::uint64_t, Flow> flows_;  // never iterated over
    using End = std::pair<Time, std::uint64_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> earliest_ends_;  ///< alone on its route
    std::priority_queue<End, std::vector<End>, std::greater<>>
        beginning_;               ///< not yet counted on their links
    Time simgrid_quiet_ = never;  ///< by SimGrid's knowledge
    Time first_unsent_ = never;
};

}  // namespace heddle::sim
