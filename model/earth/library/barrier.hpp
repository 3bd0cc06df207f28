// A split-phase barrier of EARTH's library for threads of all nodes. It uses a team of the core
// (runtime/comm/team.hpp), which a thread on each node opens and closes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/earth/library/request.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/core/states.hpp"

namespace heddle::model::earth {

struct Barrier {
    std::uint64_t team;
};

/// How many of a barrier's `threads` are on `node`, of `nodes`: they are dealt round from node 0.
inline std::uint64_t barrier_threads(std::uint64_t threads, NodeId node, NodeId nodes) {
    return threads / nodes + (node < threads % nodes ? 1 : 0);
}

namespace detail {

/// The present round of a barrier signals a slot when it is over.
class SlotInRound final : public runtime::Waiter {
public:
    explicit SlotInRound(Sptr slot) : Waiter(signal_it), slot_(slot) {}

private:
    static void signal_it(Waiter& waiter, runtime::Node& node, runtime::Context& caller);

    Sptr slot_;
};

/// The open barriers that threads of one node take part in.
class Barriers final : public runtime::State<runtime::Node> {
public:
    explicit Barriers(runtime::Node& node) : node_(node) {}

    void open(Barrier barrier, std::uint64_t threads, NodeId nodes) {
        auto team =
            std::make_unique<runtime::Team>(node_, barrier.team, static_cast<std::uint32_t>(threads), nodes);
        const runtime::SpinLock::Guard guard(lock_);
        teams_.emplace(barrier.team, std::move(team));
    }
    /// Null where no thread of this node takes part.
    runtime::Team* find(Barrier barrier) {
        const runtime::SpinLock::Guard guard(lock_);
        const auto found = teams_.find(barrier.team);
        return found == teams_.end() ? nullptr : found->second.get();
    }
    void close(Barrier barrier) {
        const runtime::SpinLock::Guard guard(lock_);
        teams_.erase(barrier.team);
    }

    /// To wait with, until `give_back`. It stays this object's, because a round that never ends wakes no
    /// waiter.
    SlotInRound& take(Sptr slot) {
        const runtime::SpinLock::Guard guard(lock_);
        if (free_.empty()) {
            slots_.push_back(std::make_unique<SlotInRound>(slot));
            return *slots_.back();
        }
        SlotInRound* const place = free_.back();
        free_.pop_back();
        std::destroy_at(place);
        return *std::construct_at(place, slot);
    }
    void give_back(SlotInRound& slot) {
        const runtime::SpinLock::Guard guard(lock_);
        free_.push_back(&slot);
    }

private:
    runtime::Node& node_;
    runtime::SpinLock lock_;  ///< over what follows
    std::unordered_map<std::uint64_t, std::unique_ptr<runtime::Team>> teams_;
    std::vector<std::unique_ptr<SlotInRound>> slots_;
    std::vector<SlotInRound*> free_;  ///< of `slots_`
};

inline void SlotInRound::signal_it(Waiter& waiter, runtime::Node& node, runtime::Context& caller) {
    auto& self = static_cast<SlotInRound&>(waiter);
    const Sptr slot = self.slot_;
    node.state<Barriers>().give_back(self);
    runtime::signal(node, caller, slot);
}

/// The nodes below this one in a binary tree of `nodes`.
template <class Use>
void for_nodes_below(NodeId node, NodeId nodes, const Use& use) {
    const std::uint64_t first = 2 * std::uint64_t{node} + 1;
    for (std::uint64_t below = first; below < std::min<std::uint64_t>(first + 2, nodes); ++below)
        use(static_cast<NodeId>(below));
}

struct BarrierOpenerParameters {
    Barrier barrier;
    std::uint64_t threads;
    Sptr opened;
};

/// Opens the barrier on its node and those below.
struct BarrierOpener : Threaded<BarrierOpener, BarrierOpenerParameters> {
    static constexpr auto name = "earth_barrier_opener";

    void init(Em em) {
        const auto nodes = static_cast<NodeId>(std::min<std::uint64_t>(threads, em.num_nodes()));
        em.worker().node().state<Barriers>().open(
            barrier, barrier_threads(threads, em.node_id(), em.num_nodes()), nodes);
        std::uint32_t below = 0;
        for_nodes_below(em.node_id(), nodes, [&](NodeId) { ++below; });
        if (below == 0) return tell(em);
        all_opened.set(below, 0);
        for_nodes_below(em.node_id(), nodes, [&](NodeId node) {
            em.invoke<BarrierOpener>(node, barrier, threads, em.to_sptr(all_opened));
        });
    }
    void tell(Em em) {
        em.sync(opened);
        em.terminate();
    }
    Fiber<&BarrierOpener::tell> all_opened{*this};
};

struct BarrierMakerParameters {
    Global<Barrier> barrier;
    Sptr ready;
    std::uint64_t threads;
};

/// Opens it everywhere and gives its handle away.
struct BarrierMaker : Threaded<BarrierMaker, BarrierMakerParameters> {
    static constexpr auto name = "earth_barrier_maker";

    Barrier made = {};

    void init(Em em) {
        made.team = runtime::Team::new_number(em.worker().node());
        em.invoke<BarrierOpener>(0, made, threads, em.to_sptr(opened));
    }
    void give(Em em) {
        em.put_sync(made, barrier, ready);
        em.terminate();
    }
    Fiber<&BarrierMaker::give> opened{*this, 1};
};

struct BarrierCloserParameters {
    Barrier barrier;
};

/// Closes the barrier on its node and those below.
struct BarrierCloser : Threaded<BarrierCloser, BarrierCloserParameters> {
    static constexpr auto name = "earth_barrier_closer";

    void init(Em em) {
        auto& barriers = em.worker().node().state<Barriers>();
        const runtime::Team* const team = barriers.find(barrier);
        if (!team) wrong_use(em, "a barrier is destroyed that is not open", "destroy it once");
        if (team->in_round())
            wrong_use(em, "a barrier is destroyed at which threads wait",
                      "destroy it when the last round is over for every thread");
        for_nodes_below(em.node_id(), team->nodes(),
                        [&](NodeId node) { em.invoke<BarrierCloser>(node, barrier); });
        barriers.close(barrier);
        em.terminate();
    }
};

}  // namespace detail

/// Makes a barrier for `threads` threads, at least one, dealt round from node 0 (`barrier_threads`); writes
/// its handle to `barrier` and signals `ready`. Throws Error.
inline void init_barrier(Em em, Global<Barrier> barrier, std::uint64_t threads, Em::SlotArgument ready) {
    if (threads == 0) detail::wrong_use(em, "a barrier for no threads", "at least one takes part");
    em.invoke<detail::BarrierMaker>(em.node_id(), barrier, em.to_sptr(ready), threads);
}

/// A thread of this node has come. `all_here` is signalled when all have; then the next round may begin. Only
/// so many threads of each node come in a round as take part: one more makes an Error, and so does a thread
/// of a node where none does.
inline void barrier_sync(Em em, Barrier barrier, Em::SlotArgument all_here) {
    runtime::Worker& worker = em.worker();
    auto& barriers = worker.node().state<detail::Barriers>();
    runtime::Team* const team = barriers.find(barrier);
    if (!team)
        detail::wrong_use(em, "a thread comes to a barrier of which none on this node takes part",
                          "threads are dealt round from node 0 (barrier_threads)");
    detail::SlotInRound& waiter = barriers.take(em.to_sptr(all_here));
    if (team->arrive(worker, 0, {}, nullptr).await(waiter)) return;
    barriers.give_back(waiter);
    em.sync(all_here);
}

/// Ends the barrier on all nodes. Every thread's last round must be over. Where threads wait, its thread
/// there throws Error.
inline void destroy(Em em, Barrier barrier) {
    em.invoke<detail::BarrierCloser>(0, barrier);
}

}  // namespace heddle::model::earth
