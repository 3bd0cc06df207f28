// Computes when each message between simulated machines arrives. Small ones depend on the first and last link
// of their route, large ones on SimGrid's sharing of bandwidth. It never calls handlers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/platform.hpp"
#include "sim/cards.hpp"
#include "sim/fair_links.hpp"
#include "sim/last_arrivals.hpp"
#include "sim/link_load.hpp"
#include "sim/path_links.hpp"
#include "sim/simgrid_process.hpp"
#include "sim/world.hpp"

namespace heddle::sim {

/// A message that has been given its time of arrival.
struct Arrival {
    Time time{};
    Message* message = nullptr;
    NodeId to = 0;
};

class Network {
public:
    /// `sending`: no message departs sooner after a node has begun to send it.
    Network(SimgridProcess& simgrid, const heddle::Network& settings, Time sending, const Cards& cards);

    /// A message leaves its machine. The departures of one card come in the order of time.
    void send(Time departure, Message& message);

    /// The arrivals that have become known and not been forgotten. None lies less than a lookahead after the
    /// departure of its message, or after the time up to which the messages had been advanced.
    const std::vector<Arrival>& known() const { return known_; }
    void forget_known() { known_.clear(); }

    /// Whether messages must be advanced before a window can begin at `now`.
    bool behind(Time now);

    /// A window begins: until the next one, small messages find links as loaded as they are now. Returns its
    /// end, before which no message arrives that is not known.
    Time begin_window(Time now);

    /// Machines come in groups of so many neighbours, which messages from other groups take longer to reach.
    /// Zero where that is not so, or where there are few groups.
    MachineId group_machines() const { return group_machines_; }

    /// How far into the present window, or beyond, a machine may go on if nothing is sent to it by its own
    /// group in the window and nothing that is under way may reach it before. At least the window's end.
    Time group_end() const { return group_end_; }

    /// Calls `visit(machine)` for all that something of which the arrival is not known yet may reach before
    /// `group_end`.
    template <class Visit>
    void expecting(const Visit& visit) const {
        fair_.beginning_before(group_end_, [&](NodeId to) { visit(cards_.machine(to)); });
        for (NodeId node = 0; node < cards_.nodes(); ++node)
            if (fair_.serves(node)) visit(cards_.machine(node));
    }

    /// Goes on with the messages, to `until` or to the first moment at which some have left the network.
    void advance(Time until);

    /// No large message of which the arrival is not known arrives before `time`, as exact numbers would have
    /// it. SimGrid's may be some units in the last place less; then the message arrives at `time`.
    void promise(Time time) { promised_ = std::max(promised_, time); }

    /// How long small messages met load that is only estimated: the longest time of any one machine, as a
    /// part of the time until the last arrival.
    double doubtful() const;

    /// Whether nothing but its bytes keeps a message on its way. One that ends at an instant may become known
    /// only after the window of that instant.
    bool instant() const { return sending_ == Time::zero() && lookahead_ == Time::zero(); }

    /// Before this, no message arrives of which the arrival is not known, and no large one leaves SimGrid, if
    /// nothing more is sent.
    Time quiet_until();

private:
    /// What is sent now arrives so much later. Without any lookahead a window is one instant, because every
    /// message takes a picosecond at least.
    Time ahead() const { return std::max(saturated_sum(sending_, lookahead_), Time(1)); }

    using Contention = heddle::Network::Contention;

    struct Route {
        Time latency{};
        double bandwidth = 0;
        std::uint32_t shared = 0;  ///< links whose bandwidth is shared
        std::uint32_t first = 0;   ///< which of the links that leave the first node
        std::uint32_t last = 0;    ///< which of those that lead to the last node
        std::uint32_t course = 0;  ///< which of those that change with time; 0: none
        double weight = 1;         ///< follows from the latency
        bool operator<(const Route& other) const {
            return std::tie(latency, bandwidth, shared, first, last, course) <
                   std::tie(other.latency, other.bandwidth, other.shared, other.first, other.last,
                            other.course);
        }
    };
    /// The links that leave a host, or those that lead to it, by host. Nearly always one; a host of a torus
    /// has several.
    struct Ends {
        explicit Ends(CardId hosts) : first(hosts), all(hosts) {}
        std::uint32_t link(CardId host, std::uint32_t place) const {
            return place == 0 ? first[host] : all[host][place].second;
        }
        std::vector<std::uint32_t> first;                         ///< its number in `fair_`
        std::unordered_map<std::uint64_t, std::uint32_t> by_key;  ///< place, by host and RouteKeys' key
        std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> all;  ///< SimGrid's number, ours
    };
    static constexpr CardId block_hosts = 256;
    /// Kinds of routes (1 and up; 0: not asked for yet) to neighbouring destinations.
    using Block = std::array<std::uint32_t, block_hosts>;

    struct Flow {
        Message* message = nullptr;
        std::size_t handle = 0;  ///< in `load_`
        bool loads = false;
        bool ended = false;  ///< but waits for another of its pair
        Time latency{};
        Time start{};  ///< FlowStart
    };

    /// The messages that a card sends in turn. A large one flows, and the other large ones wait. A small one
    /// waits for small ones only, because when a large one will end is not known.
    struct Turn {
        bool taken = false;
        Time free{};  ///< of what is calculated: when the last has left
        std::queue<FlowStart> waiting;
    };

    /// What a message alone on its way meets that departs at a certain time.
    struct Way {
        Time latency{};
        double bandwidth = 0;  ///< when its bytes begin to flow
        Time transfer{};       ///< how long they flow
    };

    const Route& route(CardId from, CardId to);
    void keep_parts(const RouteFacts& facts, CardId from, CardId to);
    const Route* composed_route(CardId from, CardId to);
    const Route& structured_route(CardId from, CardId to);
    const Route& route_of_block(CardId from, CardId to);
    const Route& route_of_pair(CardId from, CardId to);
    std::uint32_t kind_of(const Route& way);
    Way way_at(const Route& route, Time departure, const Message& message) const;
    Time transfer(const Route& route, Time begin, std::uint64_t bytes) const;
    Time next_small();
    void run_small(Time until);
    Path& path(CardId from, CardId to);
    Path& path(const Message& message) { return path(cards_.card(message.from), cards_.card(message.to)); }
    Route noted(const RouteFacts& facts, CardId from, CardId to);
    void fetch(CardId from, CardId first, Block& block);
    std::uint32_t place_of(const LinkFacts& link, Ends& ends, CardId host);
    struct Pair {
        CardId from = 0;
        CardId to = 0;
    };
    void refuse_no_time(const Route& route, Time departure, const Message& message) const;
    void send_small(const Route& route, Pair ends, Time start, Message& message);
    void send_large(const Route& route, Time start, Message& message);
    void begin_flow(const Route& route, const FlowStart& flow);
    void next_in_turn(CardId card, const FlowEnd& before, Time latency);
    void load_changes(Time now);
    Time flows_quiet_until();
    void advance_flows(Time until);
    void arrive(const Passage& passage);
    void arrive(FlowEnd end);
    Time late_inside(const Passage& passage);
    bool is_small(const Message& message) const { return message.size() < small_bytes_; }

    SimgridProcess& simgrid_;
    CardId hosts_;
    Cards cards_;
    Time lookahead_;
    Time sending_;
    Contention contention_;
    Time gap_;
    std::uint64_t small_bytes_;
    MachineId group_machines_ = 0;
    Time between_groups_{};  ///< no route from one group to another has less latency
    Time group_end_{};

    std::vector<std::vector<std::unique_ptr<Block>>> blocks_;
    std::vector<Route> kinds_;  ///< in a tree: of each level, after the first
    std::map<Route, std::uint32_t> kind_of_;
    // Of large platforms. None of these is iterated over.
    std::unordered_map<std::uint64_t, std::uint32_t> kind_of_key_;   ///< by RouteKeys::kind
    std::unordered_map<std::uint64_t, std::uint32_t> kind_of_pair_;  ///< where there is no structure
    Route composed_;                    ///< the route of the latest message in a structure
    std::vector<RouteCourse> courses_;  ///< by number; empty: not asked for yet

    PathLinks path_links_;
    std::unordered_map<std::uint64_t, Path> paths_;  // never iterated over
    std::vector<Time> card_free_;                    ///< when a network card can begin the next message
    std::vector<Arrival> known_;
    LastArrivals last_arrivals_;  ///< of small messages that share no link

    // Small messages.
    Ends out_;
    Ends in_;
    FairLinks fair_;
    std::map<std::uint32_t, std::uint32_t> fair_number_;  ///< SimGrid's numbers of links to those in `fair_`
    LinkLoad load_;
    std::size_t small_changes_ = 0;            ///< changes of links that the small messages have passed
    std::size_t load_changes_ = 0;             ///< that `load_` knows
    std::map<std::uint32_t, double> changed_;  ///< bandwidths where small messages are, by SimGrid's numbers
    std::vector<Time> late_until_;  ///< the latest arrival of a small message of a node that was slowed down

    // The load that is only estimated.
    struct Doubt {
        Time sum{};
        Time until{};
    };
    std::vector<Doubt> doubts_;      ///< of each card, as a receiver
    std::vector<Time> inside_free_;  ///< when a link would be, if messages passed it one by one
    Time last_arrival_{};

    // Large messages. The time at which one starts in SimGrid is its departure and its latency less a
    // lookahead; the lookahead is added when it ends (docs/simulator.md).
    std::vector<FlowStart> unsent_;
    std::unordered_map<CardId, Turn> turns_;         // never iterated over
    std::unordered_map<std::uint64_t, Flow> flows_;  // never iterated over
    using End = std::pair<Time, std::uint64_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> earliest_ends_;  ///< alone on its route
    std::priority_queue<End, std::vector<End>, std::greater<>>
        beginning_;  ///< not yet counted on their links
    std::unordered_map<std::uint64_t, std::queue<std::uint64_t>> in_order_;  ///< small ones of a pair
    Time simgrid_quiet_ = never;                                             ///< by SimGrid's knowledge
    Time first_unsent_ = never;
    Time promised_{};
};

}  // namespace heddle::sim
