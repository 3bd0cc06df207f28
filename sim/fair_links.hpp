// Links that share their bandwidth among small messages, each link by itself. A message has passed when each
// of its links has served it. SimGrid gives the same if one link is the narrow one, but a call of it costs
// more. Routes, latencies and large messages are handled elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace heddle::sim {

struct Message;

/// A message on its links. All begin to serve it at `start`, in proportion to `weight` (processor sharing).
struct Passage {
    static constexpr std::uint32_t no_link = ~std::uint32_t{0};

    Time start{};
    Message* message = nullptr;
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t sequence = 0;  ///< of the message, among those of `from`
    double bytes = 0;
    double weight = 1;
    std::array<std::uint32_t, 2> links{no_link, no_link};
    Time at_least{};      ///< how long it takes alone; also what it takes where it has no link
    Time extra{};         ///< what large messages on its way add, for the caller
    bool inside = false;  ///< there are more links between its first and its last, for the caller
    Time ends{};          ///< when it has passed, once it has
    Time late{};          ///< how much later it may have passed in truth, see `FairLinks`
};

/// In truth a message that is held up on one link is no faster on its other one. There it has passed too
/// early, and the rest of it is missing from the load that later messages find; this is what `late` counts.
class FairLinks {
public:
    /// `passed` is called with each message that has passed, in the order of time; of messages of one pair of
    /// nodes none overtakes another.
    explicit FairLinks(std::function<void(const Passage&)> passed) : passed_(std::move(passed)) {}

    /// A new link; its number counts from 0. Bytes per second.
    std::uint32_t add_link(double bandwidth);

    /// From `now` on, which is where the last `run` ended, a link has another bandwidth, in bytes per second.
    void set_bandwidth(std::uint32_t link, Time now, double bandwidth);

    /// `passage` will begin at its start, which must not lie before the last `run`. Any order.
    void begin(const Passage& passage);

    /// Whether something on its links leads to this node.
    bool serves(NodeId to) const { return to < serving_.size() && serving_[to] > 0; }

    /// Calls `visit(to)` for each message that begins before `until`.
    template <class Visit>
    void beginning_before(Time until, const Visit& visit) const {
        for (const auto* waiting : {&soon_, &later_})
            for (const Passage& passage : *waiting)
                if (passage.start < until) visit(passage.to);
    }

    bool empty() const { return soon_.empty() && later_.empty() && spare_.size() == slots_.size(); }

    /// Nothing happens before this: no message begins, and none is served to the end. `never` if empty.
    Time next();

    /// Goes on to `until`, exclusive. All that begins before must be known.
    void run(Time until);

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Kept in virtual service, as MemoryBus does: how many bytes a unit of weight has been given since the
    /// link was idle. A message leaves at a service known from the beginning.
    struct Stream {
        double end = 0;
        std::uint64_t number = 0;  ///< of messages on this link
        std::uint32_t slot = 0;
    };
    /// For a message that meets no other: what it reads comes first, in one line of the cache.
    struct alignas(64) Link {
        std::vector<Stream> streams;
        double bytes_per_picosecond = 0;
        double missing = 0;         ///< bytes that have passed too early
        std::uint32_t round = 0;    ///< changes whenever the next end does
        std::uint32_t lone = none;  ///< a message that has its links to itself; then `streams` is empty
        double service = 0;
        double weight = 0;
        double missing_rate = 0;  ///< at which they flow in truth, in bytes per picosecond
        Time last{};
        std::uint64_t begun = 0;
    };
    struct Slot {
        Passage passage;
        std::array<double, 2> end{};  ///< on each of its links, in the link's service
        double early = 0;             ///< bytes that passed its first link too early
        double early_rate = 0;
        Time latest{};  ///< when it may have passed its links in truth
        std::uint32_t early_link = none;
        std::uint32_t links_left = 0;
        std::uint32_t follower = none;  ///< has been served, but waits for this one
    };
    struct End {
        Time time{};
        std::uint32_t link = 0;
        std::uint32_t round = 0;
        bool operator>(const End& other) const {
            if (time != other.time) return time > other.time;
            return link != other.link ? link > other.link : round > other.round;
        }
    };
    /// Messages begin in this order.
    struct Start {
        Time time{};
        NodeId from = 0;
        std::uint32_t place = 0;  ///< in `soon_`
        std::uint64_t sequence = 0;
        bool operator<(const Start& other) const {
            if (time != other.time) return time < other.time;
            return from != other.from ? from < other.from : sequence < other.sequence;
        }
    };
    static bool later(const Stream& a, const Stream& b);
    static void serve(Link& link, Time until);
    static bool begins_later(const Passage& a, const Passage& b);
    void find_due(Time until);
    void forget_due(Time until);
    void fetch(std::size_t message, std::size_t links_of) const;
    void run_ends(Time until);
    void start(const Passage& passage);
    bool start_alone(const Passage& passage);
    std::uint32_t slot_for(const Passage& passage);
    void give_back(std::uint32_t slot);
    void end_alone(std::uint32_t slot, Time now);
    void disturb(Link& link);
    void join(Link& link, std::uint32_t number, std::uint32_t slot, std::size_t place);
    void end(const End& end);
    void await_next_end(std::uint32_t number);
    void leave(Slot& slot, std::uint32_t number, Time now);
    void served(std::uint32_t slot, Time now);
    std::uint32_t youngest_before(const Passage& passage) const;
    void drop_stale_ends();

    std::function<void(const Passage&)> passed_;
    std::vector<Link> links_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> spare_;
    std::vector<std::uint32_t> serving_;  ///< messages on their links, by the node they go to
    std::vector<std::uint32_t> sending_;  ///< the same, by the node they come from

    // Messages that have not begun. Nearly all begin a window or two after they were sent: those are a list,
    // of which each run sorts what is due. The others, over ways that are long for a window, are a heap.
    std::vector<Passage> soon_;
    std::vector<Passage> later_;
    Time first_soon_ = never;
    Time soon_until_{};  ///< what begins before this belongs into `soon_`
    Time ran_until_{};
    std::vector<Start> due_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<std::uint32_t> ended_;
};

}  // namespace heddle::sim
