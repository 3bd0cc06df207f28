// Threads that a dataflow program makes itself (the KAAPI paper, section 3.1): created, not joined, with
// attributes. An idle worker calls the steal function to get a part of the thread's work (Figure 3). A thread
// with a serialization may go to another node, by itself or as stolen work. A thread runs on a strand: it is
// not preempted, and its worker runs other work while it waits.
//
//     bool steal_function(Kaapi& victim, KaapiId& thief, const IdleWorkers& idle, void* user_arg);
//
//     Attributes attr;
//     attr.set_steal_function(&steal_function, &work);
//     create(worker, tid, attr, start_routine, &work);
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "runtime/comm/wire.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

class Kaapi;
class KaapiThreads;
class Serialization;

/// A thread. Kept as long as its work, or a thief, may need it.
using KaapiId = std::shared_ptr<Kaapi>;

class Attributes;
using StartRoutine = void (*)(Kaapi& self, void* argument);

/// The idle workers for which a steal function is called: of this node, or, for a thread with a
/// serialization, one of another node.
class IdleWorkers {
public:
    explicit IdleWorkers(runtime::Worker& asking) : worker_(&asking) {}
    explicit IdleWorkers(runtime::Gift& gift) : gift_(&gift) {}
    /// Whose workers they are.
    NodeId node() const;
    /// The worker that calls. Only for workers of this node.
    runtime::Worker& worker() const;
    /// Whether that worker of this node has nothing to do.
    bool contains(CoreId core) const;
    /// How many are known: at least one.
    std::uint32_t count() const;

private:
    friend void create(const IdleWorkers&, KaapiId&, const Attributes&, StartRoutine, void*);

    runtime::Worker* worker_ = nullptr;
    runtime::Gift* gift_ = nullptr;  ///< the message to the other node
};

/// Takes work from `victim`, while that runs: it must guard what both use, without waiting. True if and only
/// if it has made a thread, `thief`, for the workers that ask (`create`).
using StealFunction = bool (*)(Kaapi& victim, KaapiId& thief, const IdleWorkers& idle, void* user_arg);

class Attributes {
public:
    void set_steal_function(StealFunction function, void* user_arg) {
        steal_ = function;
        user_arg_ = user_arg;
    }
    /// The thread may migrate, and its steal function is called for workers of other nodes too.
    void set_serialization(const Serialization& serialization) { serialization_ = &serialization; }

private:
    friend class Kaapi;
    friend class KaapiThreads;
    friend void create(const IdleWorkers&, KaapiId&, const Attributes&, StartRoutine, void*);

    StealFunction steal_ = nullptr;
    void* user_arg_ = nullptr;
    const Serialization* serialization_ = nullptr;
};

/// Makes a thread on `worker`'s node that runs start_routine(thread, argument).
void create(runtime::Worker& worker, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument);

/// For a steal function: makes the thread where the idle workers are. On another node it begins with the
/// routine of its serialization. Throws Error if it has none.
void create(const IdleWorkers& idle, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument);

class Kaapi {
public:
    Kaapi(KaapiThreads& threads, const Attributes& attributes, void* argument)
        : threads_(threads), attributes_(attributes), argument_(argument) {}

    /// The strand that runs it: for waiting, and for its worker.
    runtime::Strand& strand() const { return *strand_; }
    runtime::Worker& worker() const { return strand_->worker(); }

    /// Its steal function may find work again. The thread calls it now and then: one load, unless it was
    /// asked since and had nothing.
    void offer() {
        if (!offers_.load(std::memory_order_relaxed)) [[unlikely]]
            offer_again();
    }

    /// From now on no steal function is called: what its argument names may go.
    void close();

    /// `kaapi_thread_migrate`: the thread goes on, on `node`, with the routine of its serialization. Here it
    /// is closed and saved at once, and leaves when its routine returns. Throws Error if it has no
    /// serialization, or there is no such node.
    void migrate(NodeId node);

private:
    friend class KaapiThreads;

    /// Where it goes, and what it takes along.
    struct Leaving {
        NodeId to;
        runtime::Body saved;
    };

    bool has_steal_function() const { return attributes_.steal_ != nullptr; }
    void run(StartRoutine start_routine);
    void offer_again();
    bool ask(KaapiId& thief, const IdleWorkers& idle);

    KaapiThreads& threads_;
    Attributes attributes_;
    void* argument_;
    std::optional<Leaving> leaving_;
    runtime::Strand* strand_ = nullptr;
    std::atomic<bool> offers_{false};
    std::atomic<bool> asked_{false};  ///< its steal function is being called
    bool open_ = false;               ///< it is in the node's list
};

/// The threads of one node that have steal functions, as a work source: an idle worker asks one after the
/// other, from a random one on, if its policy steals at all. `waiting_` counts those that offer.
class KaapiThreads final : public runtime::State<runtime::Node>, public runtime::WorkSource {
public:
    explicit KaapiThreads(runtime::Node& node);

    runtime::Node& node() const { return node_; }
    /// `caller`: a worker of the node, or its receiver.
    KaapiId start(runtime::Context& caller, const Attributes& attributes, StartRoutine start_routine,
                  void* argument);

    bool waits() const override;
    bool waits_for(const runtime::Worker& worker) const override;
    bool run(runtime::Worker& worker, runtime::Slot* head) override;
    std::uint32_t givable() const override;
    void give(runtime::Gift& gift) override;

    void report(runtime::NodeReport& report) const override;

private:
    friend class Kaapi;

    void add(const KaapiId& thread);
    void remove(const Kaapi& thread);
    std::vector<KaapiId> all() const;

    runtime::Node& node_;
    std::atomic<std::uint64_t> migrations_{0};  ///< of threads that left the node
    mutable runtime::SpinLock lock_;            ///< over `threads_`
    std::vector<KaapiId> threads_;
};

}  // namespace heddle::dataflow
