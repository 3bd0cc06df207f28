// Threads of KAAPI that a program makes itself (section 3.1): created, not joined, with attributes. The
// attribute here is the steal function, which an idle worker calls to get a part of the thread's work
// (Figure 3). A thread runs on a strand: it is not preempted, and its worker goes on where it waits.
//
//     bool steal_function(Kaapi& victim, KaapiId& thief, const IdleWorkers& idle, void* user_arg);
//
//     Attributes attr;
//     attr.set_steal_function(&steal_function, &work);
//     create(worker, tid, attr, start_routine, &work);
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/ids.hpp"
#include "runtime/core/spin_lock.hpp"
#include "runtime/core/states.hpp"
#include "runtime/sources/work_source.hpp"
#include "runtime/strands/strands.hpp"

namespace heddle::dataflow {

class Kaapi;
class KaapiThreads;

/// A thread. Kept as long as its work, or a thief, may need it.
using KaapiId = std::shared_ptr<Kaapi>;

/// The idle workers of the node for which a steal function is called.
class IdleWorkers {
public:
    explicit IdleWorkers(runtime::Worker& asking) : asking_(asking) {}
    /// The worker that calls.
    runtime::Worker& worker() const { return asking_; }
    /// Whether that worker has nothing to do.
    bool contains(CoreId core) const;
    /// How many there are: at least one.
    std::uint32_t count() const;

private:
    runtime::Worker& asking_;
};

/// Takes work from `victim`, while that runs: it must guard what both use, without waiting. True if and only
/// if it has made a thread, `thief`, for the worker that asks (`create`).
using StealFunction = bool (*)(Kaapi& victim, KaapiId& thief, const IdleWorkers& idle, void* user_arg);
using StartRoutine = void (*)(Kaapi& self, void* argument);

class Attributes {
public:
    void set_steal_function(StealFunction function, void* user_arg) {
        steal_ = function;
        user_arg_ = user_arg;
    }

private:
    friend class Kaapi;
    StealFunction steal_ = nullptr;
    void* user_arg_ = nullptr;
};

/// Makes a thread on `worker`'s node that runs start_routine(thread, argument).
void create(runtime::Worker& worker, KaapiId& tid, const Attributes& attributes, StartRoutine start_routine,
            void* argument);

class Kaapi {
public:
    Kaapi(KaapiThreads& threads, const Attributes& attributes) : threads_(threads), attributes_(attributes) {}

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

private:
    friend class KaapiThreads;
    friend void create(runtime::Worker&, KaapiId&, const Attributes&, StartRoutine, void*);

    bool has_steal_function() const { return attributes_.steal_ != nullptr; }
    void run(StartRoutine start_routine, void* argument);
    void offer_again();
    bool ask(KaapiId& thief, runtime::Worker& worker);

    KaapiThreads& threads_;
    Attributes attributes_;
    runtime::Strand* strand_ = nullptr;
    std::atomic<bool> offers_{false};
    std::atomic<bool> asked_{false};  ///< its steal function is being called
    bool open_ = false;               ///< it is in the node's list
};

/// The threads of one node that have steal functions, as a work source: an idle worker asks one after the
/// other, from a random one on. `waiting_` counts those that offer.
class KaapiThreads final : public runtime::State<runtime::Node>, public runtime::WorkSource {
public:
    explicit KaapiThreads(runtime::Node& node);

    runtime::Node& node() const { return node_; }
    bool run(runtime::Worker& worker, runtime::Slot* head) override;

private:
    friend class Kaapi;
    friend void create(runtime::Worker&, KaapiId&, const Attributes&, StartRoutine, void*);

    void add(const KaapiId& thread);
    void remove(const Kaapi& thread);

    runtime::Node& node_;
    runtime::SpinLock lock_;  ///< over `threads_`
    std::vector<KaapiId> threads_;
};

}  // namespace heddle::dataflow
