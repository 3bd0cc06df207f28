// A split-phase barrier of EARTH's library for threads of all nodes. The nodes form a binary tree: a node
// waits for its own threads and two other nodes, so it gets only a few messages a round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/earth/library/request.hpp"

namespace heddle::model::earth {

struct Barrier {
    Global<Mailbox> root;
};

/// How many of a barrier's `threads` are on `node`, of `nodes`: they are dealt round from node 0.
inline std::uint64_t barrier_threads(std::uint64_t threads, NodeId node, NodeId nodes) {
    return threads / nodes + (node < threads % nodes ? 1 : 0);
}

namespace detail {

struct BarrierRequest {
    enum class Kind : std::uint8_t { attached, arrived, all_arrived, go, destroy };

    Kind kind;
    Sptr slot = no_slot;           ///< of a thread that arrived
    Global<Mailbox> subtree = {};  ///< of a proxy that is complete, with all below it
};

struct BarrierProxyParameters {
    Global<Mailbox> root;
    Global<Mailbox> parent;
    std::uint64_t threads;
};

/// Invariant: this proxy has released a thread from one round before that thread arrives for the next.
struct BarrierProxy : Threaded<BarrierProxy, BarrierProxyParameters> {
    static constexpr auto name = "earth_barrier_proxy";
    using Kind = BarrierRequest::Kind;

    Mailbox requests;
    std::vector<Global<Mailbox>> subtrees;
    std::size_t subtrees_missing = 0;
    std::vector<Sptr> arrivals;
    std::size_t threads_here = 0;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.directory().enter(root, requests);
        threads_here = barrier_threads(threads, em.node_id(), em.num_nodes());
        const std::uint64_t proxies = std::min<std::uint64_t>(threads, em.num_nodes());
        const std::uint64_t first = 2 * std::uint64_t{em.node_id()} + 1;
        subtrees_missing = std::min(proxies, first + 2) - std::min(proxies, first);
        for (std::size_t i = 0; i < subtrees_missing; ++i)
            em.invoke<BarrierProxy>(static_cast<NodeId>(first + i), root, em.to_global(requests), threads);
        if (subtrees_missing == 0) attach(em);
    }

    void serve(Em em) {
        BarrierRequest request;
        em.retrieve_item(requests, request);
        switch (request.kind) {
            case Kind::attached:
                subtrees.push_back(request.subtree);
                if (--subtrees_missing == 0) attach(em);
                break;
            case Kind::arrived:
                if (arrivals.size() == threads_here)
                    wrong_use(em, "more threads come to a barrier than take part",
                              "a thread comes once a round, and waits for its signal");
                arrivals.push_back(request.slot);
                look(em);
                break;
            case Kind::all_arrived:
                --subtrees_missing;
                look(em);
                break;
            case Kind::go:
                subtrees_missing = subtrees.size();
                for (const auto subtree : subtrees) em.drop_in(subtree, BarrierRequest{Kind::go});
                for (const auto slot : std::exchange(arrivals, {})) em.sync(slot);
                break;
            case Kind::destroy:
                if (!arrivals.empty())
                    wrong_use(em, "a barrier is destroyed at which threads wait",
                              "destroy it when the last round is over for every thread");
                for (const auto subtree : subtrees) em.drop_in(subtree, BarrierRequest{Kind::destroy});
                em.directory().leave(root);
                em.terminate();
        }
    }
    ExclusiveFiber<&BarrierProxy::serve> arrived{*this, 1};

private:
    void attach(Em em) {
        subtrees_missing = subtrees.size();
        em.drop_in(parent, BarrierRequest{Kind::attached, no_slot, em.to_global(requests)});
    }
    void look(Em em) {
        if (arrivals.size() == threads_here && subtrees_missing == 0)
            em.drop_in(parent, BarrierRequest{Kind::all_arrived});
    }
};

struct BarrierParameters {
    Global<Barrier> barrier;
    Sptr ready;
    std::uint64_t threads;
};

/// Above the tree.
struct BarrierRoot : Threaded<BarrierRoot, BarrierParameters> {
    static constexpr auto name = "earth_barrier_root";
    using Kind = BarrierRequest::Kind;

    Mailbox requests;
    Global<Mailbox> tree;

    void init(Em em) {
        em.init_mailbox(requests, arrived);
        em.invoke<BarrierProxy>(0, em.to_global(requests), em.to_global(requests), threads);
    }

    void serve(Em em) {
        BarrierRequest request;
        em.retrieve_item(requests, request);
        if (request.kind == Kind::attached) {
            tree = request.subtree;
            em.put_sync({em.to_global(requests)}, barrier, ready);
        } else if (request.kind == Kind::all_arrived) {
            em.drop_in(tree, BarrierRequest{Kind::go});
        } else {
            em.drop_in(tree, BarrierRequest{Kind::destroy});
            em.terminate();
        }
    }
    ExclusiveFiber<&BarrierRoot::serve> arrived{*this, 1};
};

}  // namespace detail

/// Makes a barrier for `threads` threads, at least one, dealt round from node 0 (`barrier_threads`); writes
/// its handle to `barrier` and signals `ready`. Throws Error.
inline void init_barrier(Em em, Global<Barrier> barrier, std::uint64_t threads, Em::SlotArgument ready) {
    if (threads == 0) detail::wrong_use(em, "a barrier for no threads", "at least one takes part");
    em.invoke<detail::BarrierRoot>(0, barrier, em.to_sptr(ready), threads);
}

/// A thread of this node has come. `all_here` is signalled when all have; then the next round may begin. Only
/// so many threads of each node come in a round as take part: one more makes an Error, and so does a thread
/// of a node where none does.
inline void barrier_sync(Em em, Barrier barrier, Em::SlotArgument all_here) {
    Mailbox* const proxy = em.directory().find(barrier.root);
    if (!proxy)
        detail::wrong_use(em, "a thread comes to a barrier of which none on this node takes part",
                          "threads are dealt round from node 0 (barrier_threads)");
    em.drop_in(em.to_global(*proxy),
               detail::BarrierRequest{detail::BarrierRequest::Kind::arrived, em.to_sptr(all_here)});
}

/// Ends the barrier on all nodes. Every thread's last round must be over. Where threads wait, a proxy throws
/// Error.
inline void destroy(Em em, Barrier barrier) {
    em.drop_in(barrier.root, detail::BarrierRequest{detail::BarrierRequest::Kind::destroy});
}

}  // namespace heddle::model::earth
